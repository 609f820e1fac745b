"""Batching: one replay answers concurrent requests that share an executable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from gradwire_engine.answer import Poll
from gradwire_engine.queries import Call, Entry, JointCall, padded

from gradwire_service.computations.handlers import Computation
from gradwire_service.computations.inline import inline_limits
from gradwire_service.dependencies import Dependencies
from gradwire_service.problems import problem_of
from gradwire_service.routes.exchange import Exchange
from gradwire_service.scheduling import Deadline, InlineDeadline, TooLongInline
from gradwire_service.tasks.request import REPLAY
from gradwire_service.wire.shared import SharedBody

logger = logging.getLogger("gradwire")

#: The cost of joining a batch: shorter replays run alone.
_JOINING_SECONDS = 30e-6
#: After so many replays the code is generated, and durations predict the next one.
_WARM = 4
#: After so many unsuccessful batches in a row, only one in so many requests waits.
_MAX_FAILURES, _PROBE_INTERVAL = 16, 1024

#: The body of each request, or None if it must run alone.
Replies: TypeAlias = Sequence[bytes | None]


@dataclass(eq=False)
class ReplayTimes:
    """Durations of replays of one executable, alone and in batches: whether waiting pays."""

    #: Whether calls can be batched at all.
    joins: bool
    #: Replays alone, and the shortest one in seconds.
    replays: int = 0
    alone: float = float("inf")
    #: The same for joint replays, by the number of calls they are padded to.
    together: dict[int, tuple[int, float]] = field(default_factory=dict)
    #: Batches since the last successful one, and all requests.
    failures: int = 0
    requests: int = 0
    #: Whether a thread compiles for a batch, and the number of batches replayed in threads.
    compiling: bool = False
    replaying: int = 0

    def should_wait(self, call: Call, most: int) -> bool:
        """True if the next request should wait for others, up to ``most``."""
        self.requests += 1
        if not self.joins or self.replays < _WARM or self.alone < _JOINING_SECONDS:
            return False
        if self.failures >= _MAX_FAILURES and self.requests % _PROBE_INTERVAL:
            return False
        return self.pays(call, most)

    def pays(self, call: Call, count: int) -> bool:
        """True if ``count`` requests take less time in a batch.

        Before any measurement, half the prediction of one call is the estimate: a batch at least
        calls functions of arrays, where a single call has numbers.
        """
        replays, least = self.together.get(padded(count), (0, 0.0))
        if replays < _WARM:
            least = call.seconds / 2
        return count > 1 and least < count * (self.alone - _JOINING_SECONDS)

    def record_single(self, seconds: float) -> None:
        """Include a replay of one call."""
        self.replays += 1
        self.alone = min(self.alone, seconds)

    def record_batch(self, count: int, answered: int, seconds: float) -> None:
        """Include a joint replay of ``count`` calls; those not answered still run alone."""
        self.failures = 0 if answered else self.failures + 1
        seconds += (count - answered) * self.alone
        replays, least = self.together.get(padded(count), (0, seconds))
        self.together[padded(count)] = replays + 1, min(least, seconds)

    def disable(self, count: int) -> None:
        """Never batch ``count`` requests again."""
        self.together[padded(count)] = _WARM, float("inf")


class BatchMember(NamedTuple):
    """A request in a batch, and the future of its reply."""

    work: Computation
    reply: asyncio.Future[bytes | None]


class Batch(NamedTuple):
    """Requests that share an entry of the cache and wait for more."""

    entry: Entry
    times: ReplayTimes
    members: list[BatchMember]


class Batcher:
    """Collects requests for the same executable, the first of which waits at most for a window.

    Only for the event loop; longer joint replays run in threads.
    """

    def __init__(self, dependencies: Dependencies, threads: ThreadPoolExecutor) -> None:
        settings = dependencies.settings
        self._capacity = dependencies.capacity
        self._metrics = dependencies.metrics
        self._threads = threads
        self._clock = dependencies.clock
        self._window_seconds = settings.batch_window_microseconds * 1e-6
        self._most = settings.batch_requests
        self._inline_limits = inline_limits(settings)
        self._compile_ms = settings.default_timeout_ms
        self._times = WeakKeyDictionary[Entry, ReplayTimes]()
        self._open: dict[Entry, Batch] = {}
        self._tasks = set[asyncio.Task[None]]()

    async def answer(
        self,
        work: Computation,
        alone: Callable[[Computation, Exchange], Awaitable[SharedBody]],
        exchange: Exchange,
    ) -> SharedBody:
        """The answer to a request whose executable is compiled: from a batch, or from ``alone``."""
        entry = work.call.entry
        times = self._times.get(entry)
        if times is None:
            times = self._times[entry] = ReplayTimes(JointCall.takes(work.call))
        if entry in self._open or times.should_wait(work.call, self._most):
            deadline = work.request.deadline
            joined = self._join(entry, times, work)
            try:
                async with asyncio.timeout(deadline.remaining_seconds()):
                    reply = await joined
            except TimeoutError:
                raise deadline.exceeded() from None
            if reply is not None:
                exchange.stats.program = exchange.outcome.program
                return reply
        body = await alone(work, exchange)
        times.record_single(exchange.outcome.phases[REPLAY])
        return body

    def _join(
        self, entry: Entry, times: ReplayTimes, work: Computation
    ) -> asyncio.Future[bytes | None]:
        loop = asyncio.get_running_loop()
        batch = self._open.get(entry)
        if batch is None:
            batch = self._open[entry] = Batch(entry, times, [])
            loop.call_soon(self._wait_or_close, batch)
        reply = loop.create_future()
        batch.members.append(BatchMember(work, reply))
        if len(batch.members) == self._most:
            self._close(batch)
        return reply

    def _wait_or_close(self, batch: Batch) -> None:
        """When the requests that arrived together are in, wait on if others are in flight."""
        if self._capacity.in_flight > len(batch.members):
            loop = asyncio.get_running_loop()
            loop.call_later(self._window_seconds, self._end, batch)
        else:
            self._close(batch)

    def _end(self, batch: Batch) -> None:
        """Close when the window ends, but not while another batch of the executable is replayed.

        Two replays at once take as long as one after the other, and more requests may arrive.
        """
        if not batch.times.replaying:
            self._close(batch)

    def _close(self, batch: Batch) -> None:
        """Close a batch, and answer the requests that still wait."""
        entry, times, members = batch
        if self._open.get(entry) is not batch:
            return
        del self._open[entry]
        there = [member for member in members if not member.reply.done()]
        if there and times.pays(there[0].work.call, len(there)):
            task = asyncio.create_task(self._answer(Batch(entry, times, there)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            times.failures += 1
            for member in there:
                member.reply.set_result(None)

    async def _answer(self, batch: Batch) -> None:
        """Reply to all; after a failure each request runs alone, so that errors are its own.

        If nothing is compiled for this size, requests do not wait for it.
        """
        entry, times, members = batch
        replies: Replies = [None] * len(members)
        missing: JointCall | None = None
        try:
            joint = JointCall([member.work.call for member in members])
            if joint.call.compiled:
                replies = await self._replies(joint, members, times)
            else:
                missing = joint
        except Exception as error:  # noqa: BLE001 - each request raises its own again
            times.failures += 1
            _log(error)
        if any(replies):
            self._metrics.joined(len(members) - replies.count(None))
        for member, reply in zip(members, replies, strict=True):
            if not member.reply.done():
                member.reply.set_result(reply)
        if entry in self._open:
            asyncio.get_running_loop().call_soon(self._wait_or_close, self._open[entry])
        if missing is not None and not times.compiling:
            await self._compile(missing, members, times)

    async def _replies(
        self, joint: JointCall, members: Sequence[BatchMember], times: ReplayTimes
    ) -> Replies:
        """Replay on the event loop if short, else in a thread, until the last deadline."""
        if self._inline_limits.allow(joint.call):
            with suppress(TooLongInline):
                return _replay_batch(joint, members, times, InlineDeadline(self._clock))
        deadlines = [member.work.request.deadline for member in members]
        deadline = max(deadlines, key=Deadline.remaining_seconds)
        loop = asyncio.get_running_loop()
        times.replaying += 1
        try:
            return await loop.run_in_executor(
                self._threads, _replay_batch, joint, members, times, deadline
            )
        finally:
            times.replaying -= 1

    async def _compile(
        self, joint: JointCall, members: Sequence[BatchMember], times: ReplayTimes
    ) -> None:
        """Compile for later batches, in a thread."""
        times.compiling = True
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(
                self._threads, joint.call.compile, Deadline(self._compile_ms)
            )
        except Exception as error:  # noqa: BLE001 - no request waits for it
            times.disable(len(members))
            _log(error)
        finally:
            times.compiling = False


def _replay_batch(
    joint: JointCall, members: Sequence[BatchMember], times: ReplayTimes, poll: Poll
) -> Replies:
    """Replay, and write the responses."""
    start = perf_counter()
    answers = joint.answers(poll)
    seconds = perf_counter() - start
    times.record_batch(len(members), len(members) - answers.count(None), seconds)
    return [
        None if answer is None else b"".join(member.work.encode(answer, seconds))
        for member, answer in zip(members, answers, strict=True)
    ]


def _log(error: Exception) -> None:
    """Log unexpected errors; expected ones are raised again by each request."""
    if not problem_of(error).expected:
        logger.warning("a batch of requests failed", exc_info=error)
