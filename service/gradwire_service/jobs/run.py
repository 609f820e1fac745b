"""A run of an optimisation on this replica; once it is stored, it is a job."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from gradwire_engine.errors import DeadlineExceeded

from gradwire_service.jobs import Claim, Held, Interrupted, Job, State, Transitions
from gradwire_service.jobs.dispatcher import JobDispatcher
from gradwire_service.jobs.feeds import Blocking, Feed, Feeds, pause
from gradwire_service.jobs.reporter import Reporter
from gradwire_service.problems import RemoteError, RequestError, WorkerCrashed
from gradwire_service.scheduling import Deadline
from gradwire_service.store import Key, Record, Unavailable
from gradwire_service.store.quotas import OverQuota
from gradwire_service.tasks.messages import Task, TaskDone, TaskFailed
from gradwire_service.tasks.request import ProgressMessage
from gradwire_service.wire.codec import negotiate
from gradwire_service.wire.shared import SharedMemory, to_bytes

#: Time between attempts to store how a job has ended.
_RETRY_SECONDS = 1.0
#: More events than a run can have, at ten a second for years: the next run of the job numbers its
#: events from there, since clients may know later ones of the last than are stored.
_EVENTS_OF_RUN = 10**9


class RunContext(NamedTuple):
    """The objects that all runs of a replica share; a job may take ``seconds`` from its creation.

    ``clock`` and ``now`` tell the time: for intervals, and in seconds since 1970. What a job needs
    is used again after ``use_seconds``.
    """

    dispatcher: JobDispatcher
    transitions: Transitions
    feeds: Feeds
    blocking: Blocking
    seconds: float
    use_seconds: float
    ended: Callable[[State], None]
    clock: Callable[[], float]
    now: Callable[[], float]


class Run:
    """One optimisation: ``answer`` is its result, or the error that ended it.

    ``begun`` is set when it has evaluated its start.
    """

    def __init__(
        self, context: RunContext, key: Key, job: Job, task: Task, claim: Claim | None = None
    ) -> None:
        self.key = key
        self.job = job
        self.answer: asyncio.Future[TaskDone | TaskFailed] = asyncio.Future()
        self.begun = asyncio.Event()
        #: Those who wait for the answer, to send it.
        self.awaited = 0
        self._taken_at: float | None = None
        #: Set when it is stored how it has ended, or the store did not answer.
        self._end_stored = asyncio.Event()
        self._context = context
        self._task = task
        header = task.headers.get
        content = header(b"content-type", b""), header(b"content-encoding", b"")
        self._reply_type = negotiate(*content, header(b"accept", b"")).reply_type.decode()
        self._why: Exception | None = None
        self._woken = asyncio.Event()
        #: Held while it is decided whether this becomes a job, and whether it has ended before.
        self._changing = asyncio.Lock()
        #: The events of those who ran it before.
        self._before = () if claim is None else claim.events
        self._last_event = job.resumed * _EVENTS_OF_RUN
        self._latest: tuple[int, str] | None = None
        self._reporter = None if claim is None else self._new_reporter(claim.held)
        self._feed = Feed(key)
        self._work: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to work."""
        self._feed = self._context.feeds.of(self.key)
        self._feed.has_run = True
        for event in self._before:
            self._feed.add(*event)
        self._work = asyncio.create_task(self._run())
        return self._work

    @property
    def stored(self) -> bool:
        """True if it is a job."""
        return self._reporter is not None

    @property
    def is_resumable(self) -> bool:
        """True if the work has ended here for a reason outside of it, and the job is not over."""
        if not (self.stored and self.answer.done()):
            return False
        return self._is_resumable(self.answer.exception() or self.answer.result())

    def stop(self, why: Exception) -> None:
        """Stop the work, for the reason that becomes its answer."""
        self._why = why
        self._woken.set()

    def look(self) -> None:
        """See whether somebody else has changed the job."""
        if self._reporter is not None:
            self._reporter.ask()
            self._woken.set()

    async def end_stored(self) -> None:
        """Wait until it is stored how a job has ended, if the store answers."""
        if self.stored:
            await self._end_stored.wait()

    async def ended(self) -> None:
        """Wait until it has ended, and the store knows."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def persist(self) -> bool:
        """Make it a job that outlives this replica; false if one of its id is stored already.

        If it has ended by itself, it is none, and true is returned as well.
        Raises: ``RequestError`` (over_budget, store_unavailable).
        """
        async with self._changing:
            if self.stored or self.answer.done():
                return True
            held = await self._context.blocking(self._create)
            if held is not None:
                await self._context.feeds.watch(self.key)
                self._reporter = self._new_reporter(held)
                if self._latest is not None:
                    self._reporter.add(self._latest, None, self._context.now())
                self._woken.set()
            return self.stored

    def _create(self) -> Held | None:
        """Store the job, its request and its lease; None if there is one of its id."""
        body = self._task.body
        headers = {n.decode(): text.decode("latin-1") for n, text in self._task.headers.items()}
        content = body if isinstance(body, SharedMemory) else bytes(to_bytes(body))
        return self._context.transitions.create(self.key, self.job, content, json.dumps(headers))

    def _new_reporter(self, held: Held) -> Reporter:
        context = self._context
        shared = context.transitions, context.blocking
        return Reporter(*shared, held, self._before, context.clock, context.use_seconds)

    async def _run(self) -> None:
        """Work until there is an answer, for those who wait and for the store."""
        context, task = self._context, self._task
        left_seconds = context.seconds - (context.now() - self.job.created_at)
        try:
            deadline = Deadline(1000 * max(left_seconds, 0), context.clock)
            found = await context.dispatcher.run(
                task._replace(deadline=deadline), self._watch, self._progressed
            )
            answer: TaskDone | TaskFailed | Exception = found.answer
        except Exception as error:  # noqa: BLE001 - it is the answer
            answer = error
        if _is_late(answer):
            answer = RequestError(
                "deadline_exceeded",
                f"the optimisation took longer than the {context.seconds:g} s that a job may take",
                hint="max_seconds ends it earlier, with the best point that it has found",
            )
        async with self._changing:
            if self.awaited:
                self._taken_at = context.now()
            if isinstance(answer, Exception):
                self.answer.set_exception(answer)
                self.answer.exception()  # nobody may be waiting
            else:
                self.answer.set_result(answer)
        try:
            if self._reporter is not None:
                await self._store_result(self._reporter, answer)
        finally:
            context.feeds.end(self._feed)

    async def _watch(self) -> NoReturn:
        """Report to the store when it is time, until the work has to stop, and raise why."""
        while self._why is None:
            reporter = self._reporter
            delay = None if reporter is None else max(reporter.delay, 0)
            await pause(self._woken, delay)
            self._woken.clear()
            if reporter is not None and reporter.delay <= 0 and self._why is None:
                with suppress(Unavailable):  # the work goes on
                    await reporter.report()
        raise self._why

    def _progressed(self, message: ProgressMessage) -> None:
        self.begun.set()
        self._last_event += 1
        self._latest = self._last_event, message.progress
        self._feed.add(*self._latest)
        if self._reporter is not None:
            was_idle = self._reporter.add(self._latest, message.checkpoint, self._context.now())
            if was_idle:
                self._woken.set()

    async def _store_result(
        self, reporter: Reporter, answer: TaskDone | TaskFailed | Exception
    ) -> None:
        """Store how the job has ended, as soon as the store answers and has room for it."""
        while True:
            try:
                try:
                    state = await self._context.blocking(self._store_end, reporter, answer)
                finally:
                    self._end_stored.set()
            except (Unavailable, OverQuota):
                if self._why is not None:  # another replica goes on when the lease has expired
                    return
                await pause(self._woken, _RETRY_SECONDS)
                self._woken.clear()
            else:
                if state is not None:
                    self._context.ended(state)
                return

    def _store_end(
        self, reporter: Reporter, answer: TaskDone | TaskFailed | Exception
    ) -> State | None:
        """Store how the job has ended; returns its state, None if it goes on elsewhere.

        Raises: ``OverQuota`` if there is no room for the shortest form: the error, without events.
        """
        if self._is_resumable(answer):
            crashed = isinstance(answer, WorkerCrashed)
            announced = crashed or isinstance(answer, Interrupted)
            reporter.hand_over(counted=crashed, announced=announced)
            return None
        found: Record | Exception
        if isinstance(answer, TaskFailed):
            found = RemoteError(answer.problem, answer.trace)
        elif isinstance(answer, TaskDone):
            body = answer.body
            content = body if isinstance(body, SharedMemory) else bytes(to_bytes(body))
            found = Record(self._reply_type, content)
        else:
            found = answer
        about = self._context.now(), self._taken_at
        events = [*self._feed.events]
        try:
            for kept in events, events, []:
                try:
                    return reporter.end(found, kept, *about)
                except OverQuota as error:
                    found = over = error
        except Interrupted:  # another replica has it, and goes on
            return None
        raise over

    def _is_resumable(self, answer: TaskDone | TaskFailed | BaseException) -> bool:
        """True if a job goes on from its checkpoint, here or elsewhere."""
        if isinstance(answer, Interrupted) or _is_refused(answer):
            return True
        if isinstance(answer, WorkerCrashed):
            return self._has_progress
        if not (isinstance(answer, TaskFailed) and answer.problem.status == 503):
            return False
        # What the work needs was lost, store or cluster: a job that has had it waits for it.
        return self._has_progress or self.job.resumed > 0 or answer.outcome.on_cluster

    @property
    def _has_progress(self) -> bool:
        """True if this run, or one before it, has evaluated the start."""
        return self.begun.is_set() or bool(self._before)


def _is_late(answer: object) -> bool:
    """True if the work has not ended by its deadline, as the queue or the work itself reports."""
    if isinstance(answer, TaskFailed):
        return answer.problem.code == "deadline_exceeded"
    return isinstance(answer, DeadlineExceeded)


def _is_refused(answer: object) -> bool:
    """True if this replica has no room for the work, or stops."""
    return isinstance(answer, RequestError) and answer.code in ("draining", "overloaded")
