"""Concurrent requests that share an executable, answered by one replay of all."""

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
from gradwire_engine.cache import Entry
from gradwire_engine.call import Call
from gradwire_engine.joint_call import JointCall, padded

from gradwire_service.problems import problem_of
from gradwire_service.routes.exchange import Exchange
from gradwire_service.routes.inline import inline_limits
from gradwire_service.scheduling import Capacity, Deadline, InlineDeadline, TooLongInline
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Metrics
from gradwire_service.wire.shared import Packed
from gradwire_service.work.compute import Computation
from gradwire_service.work.request import REPLAY

logger = logging.getLogger("gradwire")

#: What a request's waiting for others costs: replays that take less go alone.
_JOINING_SECONDS = 30e-6
#: What was replayed so often is generated code by now, so that its time tells of the next.
_WARM = 4
#: After so many groups in a row that came to nothing, only each so many requests wait.
_FRUITLESS, _SELDOM = 16, 1024

#: The body of each; None where a request is to go on alone.
Replies: TypeAlias = Sequence[bytes | None]


@dataclass(eq=False)
class ReplayTimes:
    """How long replays of one executable take, alone and together; whether waiting pays."""

    #: Whether calls may be answered together at all.
    joins: bool
    #: How many were replayed alone, and the least seconds that this took.
    replays: int = 0
    alone: float = float("inf")
    #: The same of joint replays, by the number of calls that they are padded to.
    together: dict[int, tuple[int, float]] = field(default_factory=dict)
    #: Groups since the last that was answered together, and requests ever.
    fruitless: int = 0
    requests: int = 0
    #: Whether something is compiled for a batch, and how many are answered, in threads.
    compiling: bool = False
    replaying: int = 0

    def waits(self, call: Call, most: int) -> bool:
        """Whether the next request is to wait for others, up to so many."""
        self.requests += 1
        if not self.joins or self.replays < _WARM or self.alone < _JOINING_SECONDS:
            return False
        if self.fruitless >= _FRUITLESS and self.requests % _SELDOM:
            return False
        return self.pays(call, most)

    def pays(self, call: Call, count: int) -> bool:
        """Whether so many are answered in less time together.

        Until that was measured it is left to a prediction for one of them: NumPy takes half of it
        at least to call its functions, where one alone may compute with Python's floats.
        """
        replays, least = self.together.get(padded(count), (0, 0.0))
        if replays < _WARM:
            least = call.seconds / 2
        return count > 1 and least < count * (self.alone - _JOINING_SECONDS)

    def went_alone(self, seconds: float) -> None:
        """Learn from a replay of one."""
        self.replays += 1
        self.alone = min(self.alone, seconds)

    def went_together(self, count: int, answered: int, seconds: float) -> None:
        """Learn from a replay of ``count``, of which some have to go alone after all."""
        self.fruitless = 0 if answered else self.fruitless + 1
        seconds += (count - answered) * self.alone
        replays, least = self.together.get(padded(count), (0, seconds))
        self.together[padded(count)] = replays + 1, min(least, seconds)

    def never(self, count: int) -> None:
        """So many are not answered together again."""
        self.together[padded(count)] = _WARM, float("inf")


class BatchMember(NamedTuple):
    """A request that waits for others, and where its reply goes."""

    work: Computation
    reply: asyncio.Future[bytes | None]


class Batch(NamedTuple):
    """Requests that share an entry of the cache and wait for more of them."""

    entry: Entry
    times: ReplayTimes
    members: list[BatchMember]


class Batcher:
    """Where requests wait for others of the same executable, the first at most for a window.

    Only on the event loop, but for joint replays that are not predicted to be short.
    """

    def __init__(
        self, capacity: Capacity, metrics: Metrics, settings: Settings, threads: ThreadPoolExecutor
    ) -> None:
        self._capacity = capacity
        self._metrics = metrics
        self._threads = threads
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
        alone: Callable[[Computation, Exchange], Awaitable[Packed]],
        exchange: Exchange,
    ) -> Packed:
        """The answer to a request whose executable is at hand: with others', or had ``alone``."""
        entry = work.call.entry
        times = self._times.get(entry)
        if times is None:
            times = self._times[entry] = ReplayTimes(JointCall.takes(work.call))
        if entry in self._open or times.waits(work.call, self._most):
            deadline = work.request.deadline
            joined = self._join(entry, times, work)
            try:
                async with asyncio.timeout(deadline.remaining_seconds()):
                    reply = await joined
            except TimeoutError:
                raise deadline.exceeded() from None
            if reply is not None:
                exchange.account.program = exchange.outcome.program
                return reply
        body = await alone(work, exchange)
        times.went_alone(exchange.outcome.phases[REPLAY])
        return body

    def _join(
        self, entry: Entry, times: ReplayTimes, work: Computation
    ) -> asyncio.Future[bytes | None]:
        loop = asyncio.get_running_loop()
        batch = self._open.get(entry)
        if batch is None:
            batch = self._open[entry] = Batch(entry, times, [])
            loop.call_soon(self._look_round, batch)
        reply = loop.create_future()
        batch.members.append(BatchMember(work, reply))
        if len(batch.members) == self._most:
            self._close(batch)
        return reply

    def _look_round(self, batch: Batch) -> None:
        """Once all that had come with the first are here, wait on if there are any others."""
        if self._capacity.in_flight > len(batch.members):
            loop = asyncio.get_running_loop()
            loop.call_later(self._window_seconds, self._end, batch)
        else:
            self._close(batch)

    def _end(self, batch: Batch) -> None:
        """When the window is over, close; but behind a batch that is being answered, wait on.

        Two replays at once take as long as one after the other, and until then more will come.
        """
        if not batch.times.replaying:
            self._close(batch)

    def _close(self, batch: Batch) -> None:
        """Let nobody in any more, and answer those who are still there."""
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
            times.fruitless += 1
            for member in there:
                member.reply.set_result(None)

    async def _answer(self, batch: Batch) -> None:
        """Reply to all; whatever fails is left to each, so that errors are each's own.

        Where nothing is compiled for so many, nobody waits for that.
        """
        entry, times, members = batch
        replies: Replies = [None] * len(members)
        missing: JointCall | None = None
        try:
            joint = JointCall([member.work.call for member in members])
            if joint.compiled:
                replies = await self._replies(joint, members, times)
            else:
                missing = joint
        except Exception as error:  # noqa: BLE001 - each has its own again, or none
            times.fruitless += 1
            _log(error)
        if any(replies):
            self._metrics.joined(len(members) - replies.count(None))
        for member, reply in zip(members, replies, strict=True):
            if not member.reply.done():
                member.reply.set_result(reply)
        if entry in self._open:
            asyncio.get_running_loop().call_soon(self._look_round, self._open[entry])
        if missing is not None and not times.compiling:
            await self._compile(missing, members, times)

    async def _replies(
        self, joint: JointCall, members: Sequence[BatchMember], times: ReplayTimes
    ) -> Replies:
        """On the event loop where that is short, else in a thread, as long as anybody has time."""
        if self._inline_limits.allow(joint):
            with suppress(TooLongInline):
                return _written(joint, members, times, InlineDeadline())
        deadlines = [member.work.request.deadline for member in members]
        deadline = max(deadlines, key=Deadline.remaining_seconds)
        loop = asyncio.get_running_loop()
        times.replaying += 1
        try:
            return await loop.run_in_executor(
                self._threads, _written, joint, members, times, deadline
            )
        finally:
            times.replaying -= 1

    async def _compile(
        self, joint: JointCall, members: Sequence[BatchMember], times: ReplayTimes
    ) -> None:
        """Compile for groups to come, in a thread."""
        times.compiling = True
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, joint.compile, Deadline(self._compile_ms))
        except Exception as error:  # noqa: BLE001 - nobody waits for it
            times.never(len(members))
            _log(error)
        finally:
            times.compiling = False


def _written(
    joint: JointCall, members: Sequence[BatchMember], times: ReplayTimes, poll: Poll
) -> Replies:
    """Replay, and write the responses."""
    start = perf_counter()
    answers = joint.answers(poll)
    seconds = perf_counter() - start
    times.went_together(len(members), len(members) - answers.count(None), seconds)
    return [
        None if answer is None else b"".join(member.work.answered(answer, seconds))
        for member, answer in zip(members, answers, strict=True)
    ]


def _log(error: Exception) -> None:
    """Tell of what should not have failed; what may fail, each request is told again."""
    if not problem_of(error).expected:
        logger.warning("a batch of requests failed", exc_info=error)
