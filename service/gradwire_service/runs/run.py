"""A run of an optimisation on this replica; once it is stored, it is a job."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

import orjson
from gradwire_engine.errors import DeadlineExceeded

from gradwire_service.jobs import Job, Jobs, Lease, State, Unknown
from gradwire_service.problems import RemoteError, RequestError, WorkerCrashed, problem_of
from gradwire_service.runs.places import Places
from gradwire_service.scheduling import Deadline
from gradwire_service.store import Key, Unavailable
from gradwire_service.store.records import OverQuota
from gradwire_service.wire.codec import negotiate
from gradwire_service.wire.shared import SharedMemory, unpacked
from gradwire_service.work.messages import Task, TaskDone, TaskFailed
from gradwire_service.work.request import ProgressMessage

logger = logging.getLogger("gradwire")

T = TypeVar("T")

#: Time between looks at whether a job is cancelled, and between reports of its progress.
_TICK_SECONDS, _REPORT_SECONDS = 0.04, 0.25
#: Time that a lease lasts, and after which it is renewed.
LEASE_SECONDS, _RENEWED_SECONDS = 10.0, 3.0
#: Events that are stored, for listeners that come late or again.
MOST_EVENTS = 256
#: Time between attempts to store how a job has ended.
_RETRY_SECONDS = 1.0


class Blocking(Protocol):
    """Calls a function that may block without blocking the event loop."""

    def __call__(self, function: Callable[..., T], *arguments: Any) -> Awaitable[T]:
        """The result of the function, which gets the arguments."""


class Cancelled(Exception):
    """The job is cancelled, or was deleted."""


class Interrupted(Exception):
    """The job ends here but is not over: this replica stops, or another has taken it over."""


class Means(NamedTuple):
    """What all runs of a replica share; a job may take so many ``seconds`` from its creation.

    ``clock`` and ``now`` tell the time: for intervals, and in seconds since 1970.
    """

    places: Places
    jobs: Jobs
    blocking: Blocking
    replica: str
    seconds: float
    ended: Callable[[State], None]
    clock: Callable[[], float]
    now: Callable[[], float]


class Run:
    """One optimisation: ``answer`` is its result, or the error that ended it.

    ``begun`` is set when it has evaluated its start.

    It reports to the store once it is a job: state and progress, events, checkpoints and its lease.
    """

    def __init__(
        self,
        means: Means,
        key: Key,
        job: Job,
        task: Task,
        lease: Lease | None = None,
        last_event: int = 0,
    ) -> None:
        self.key = key
        self.job = job
        self.answer: asyncio.Future[TaskDone | TaskFailed] = asyncio.Future()
        self.begun = asyncio.Event()
        #: Those who wait for the answer, to send it.
        self.awaited = 0
        self._taken_at: float | None = None
        #: Set when the store knows how it has ended, or did not answer.
        self._told = asyncio.Event()
        self._means = means
        self._task = task
        header = task.headers.get
        content = header(b"content-type", b""), header(b"content-encoding", b"")
        self._reply_type = negotiate(*content, header(b"accept", b"")).reply_type.decode()
        self._lease = lease
        self._stopped = asyncio.Event()
        self._why: Exception = Interrupted()
        #: Held while the store is told that this is a job, and how that has ended.
        self._changing = asyncio.Lock()
        self._events = deque[tuple[int, str]](maxlen=MOST_EVENTS)
        self._last_event = last_event
        self._started_at = job.started_at
        self._progress: str | None = None
        self._checkpoint: bytes | None = None
        self._reported_at = self._renewed_at = means.clock()
        self._work: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to work."""
        self._work = asyncio.create_task(self._run())
        return self._work

    @property
    def stored(self) -> bool:
        """True if it is a job."""
        return self._lease is not None

    @property
    def goes_on(self) -> bool:
        """True if the work has ended here for a reason outside of it, and the job is not over."""
        if not (self.stored and self.answer.done()):
            return False
        return self._goes_on(self.answer.exception() or self.answer.result())

    def stop(self, why: Exception) -> None:
        """Stop the work, for the reason that becomes its answer."""
        self._why = why
        self._stopped.set()

    async def told(self) -> None:
        """Wait until the store knows of a job how it has ended, if the store answers."""
        if self.stored:
            await self._told.wait()

    async def ended(self) -> None:
        """Wait until it has ended, and the store knows."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def keep(self) -> bool:
        """Make it a job that outlives this replica; false if one of its id is stored already.

        If it has ended by itself, it is none, and true is returned as well.
        Raises: ``RequestError`` (over_budget, store_unavailable).
        """
        async with self._changing:
            if self.stored or self.answer.done():
                return True
            self._lease = await self._means.blocking(self._create)
            return self.stored

    def _create(self) -> Lease | None:
        """Store the job, its request and its lease; None if there is one of its id."""
        jobs, key, task = self._means.jobs, self.key, self._task
        if not jobs.create(key, self.job):
            return None
        try:
            body = task.body
            headers = {name.decode(): text.decode("latin-1") for name, text in task.headers.items()}
            content = body if isinstance(body, SharedMemory) else bytes(unpacked(body))
            jobs.put_part(key, "request", content, json.dumps(headers))
            lease = Lease(key.owner, key.id, self._means.replica, self._until())
            jobs.change_lease(None, lease)
        except BaseException:
            with suppress(Unavailable):
                jobs.remove(key)
            raise
        return lease

    async def _run(self) -> None:
        """Work until there is an answer, and tell it to those who wait and to the store."""
        means, task = self._means, self._task
        left_seconds = means.seconds - (means.now() - self.job.created_at)
        try:
            deadline = Deadline(1000 * max(left_seconds, 0), means.clock)
            found = await means.places.run(
                task._replace(deadline=deadline), self._watch, self._progressed
            )
            answer: TaskDone | TaskFailed | Exception = found.answer
        except Exception as error:  # noqa: BLE001 - it is the answer
            answer = error
        if _is_late(answer):
            answer = RequestError(
                "deadline_exceeded",
                f"the optimisation took longer than the {means.seconds:g} s that a job may take",
                hint="max_seconds ends it earlier, with the best point that it has found",
            )
        async with self._changing:
            if self.awaited:
                self._taken_at = means.now()
            if isinstance(answer, Exception):
                self.answer.set_exception(answer)
                self.answer.exception()  # nobody may be waiting
            else:
                self.answer.set_result(answer)
        if self.stored:
            await self._tell(answer)

    async def _watch(self) -> NoReturn:
        """Report to the store until the work has to stop, and raise why."""
        while not self._stopped.is_set():
            if self.stored:
                with suppress(Unavailable):  # the work goes on
                    await self._report()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), _TICK_SECONDS)
        raise self._why

    def _progressed(self, message: ProgressMessage) -> None:
        self._started_at = self._started_at or self._means.now()
        self.begun.set()
        self._last_event += 1
        self._events.append((self._last_event, message.progress))
        self._progress = message.progress
        self._checkpoint = message.checkpoint or self._checkpoint

    async def _report(self) -> None:
        """Write what is new to the store, and see whether the job is cancelled.

        Raises: ``Cancelled``, ``Interrupted``, ``Unavailable``.
        """
        now = self._means.clock()
        progress = checkpoint = lease = None
        if self._progress is not None and now - self._reported_at > _REPORT_SECONDS:
            self._reported_at, progress, self._progress = now, self._progress, None
            checkpoint, self._checkpoint = self._checkpoint, None
        if now - self._renewed_at > _RENEWED_SECONDS:
            self._renewed_at, lease = now, self._lease
        written = progress, self._event_lines(), checkpoint, lease
        self._lease = await self._means.blocking(self._write, *written)

    def _write(
        self, progress: str | None, events: bytes, checkpoint: bytes | None, lease: Lease | None
    ) -> Lease | None:
        """Write what is not None; returns the lease as it is then."""
        jobs, key = self._means.jobs, self.key
        renewed = self._lease
        if lease is not None:  # first: nothing is written for a job that another has taken over
            renewed = lease._replace(until=self._until())
            if not jobs.change_lease(lease, renewed):
                raise Interrupted
        try:
            seen = jobs.find(key).job
        except Unknown:
            raise Cancelled from None
        if seen.state == "cancelled":
            raise Cancelled
        if progress is not None:
            running = seen._replace(
                state="running", started_at=self._started_at, progress=json.loads(progress)
            )
            jobs.change(key, seen, running)  # else it has just been cancelled
            with suppress(OverQuota):  # then it cannot be taken over, but goes on here
                jobs.put_part(key, "events", events)
                if checkpoint is not None:
                    jobs.put_part(key, "checkpoint", checkpoint)
        return renewed

    async def _tell(self, answer: TaskDone | TaskFailed | Exception) -> None:
        """Store how the job has ended, as soon as the store answers."""
        while True:
            try:
                try:
                    state = await self._means.blocking(self._store_end, answer)
                finally:
                    self._told.set()
            except Unavailable:
                if self._stopped.is_set():  # another replica goes on when the lease has expired
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), _RETRY_SECONDS)
            else:
                if state is not None:
                    self._means.ended(state)
                return

    def _store_end(self, answer: TaskDone | TaskFailed | Exception) -> State | None:
        """Store how the job has ended; returns its state, None if it goes on elsewhere."""
        jobs, key, lease = self._means.jobs, self.key, self._lease
        assert lease is not None
        if self._goes_on(answer):
            self._hand_over(lease, counted=isinstance(answer, WorkerCrashed))
            return None
        try:
            state = self._store_answer(answer)
        except OverQuota as error:
            state = self._store_answer(error)
        except Unknown:  # deleted
            state = "cancelled"
        if state != "succeeded":
            jobs.remove_parts(key, ("answer",))
        jobs.remove_parts(key, ("request", "checkpoint"))
        jobs.remove_lease(lease)
        return state

    def _goes_on(self, answer: TaskDone | TaskFailed | BaseException) -> bool:
        """True if a job goes on from its checkpoint, here or elsewhere."""
        if isinstance(answer, Interrupted) or _is_refused(answer):
            return True
        return self._last_event > 0 and (isinstance(answer, WorkerCrashed) or _is_away(answer))

    def _hand_over(self, lease: Lease, *, counted: bool) -> None:
        """End the lease, so that a replica goes on from here; ``counted`` as an attempt."""
        jobs, key = self._means.jobs, self.key
        renewed = lease._replace(until=self._until())
        if jobs.change_lease(lease, renewed):  # else another one has it already
            if self._checkpoint is not None:
                with suppress(OverQuota):
                    jobs.put_part(key, "checkpoint", self._checkpoint)
            ended_at = self._means.now() if counted else 0.0
            jobs.change_lease(renewed, renewed._replace(until=ended_at))

    def _store_answer(self, answer: TaskDone | TaskFailed | Exception) -> State:
        """Store how a job has ended; returns its state.

        Raises: ``Unknown``, ``OverQuota``.
        """
        jobs, key = self._means.jobs, self.key
        if isinstance(answer, Cancelled):
            return "cancelled"
        ended_at = self._means.now()
        fields: dict[str, Any] = {
            "started_at": self._started_at or ended_at,
            "finished_at": ended_at,
            "taken_at": self._taken_at,
        }
        if self._events:
            jobs.put_part(key, "events", self._event_lines())
            fields["progress"] = json.loads(self._events[-1][1])
        if not isinstance(answer, TaskDone):
            return jobs.end(key, state="failed", problem=self._problem(answer), **fields).state
        body = answer.body
        content = body if isinstance(body, SharedMemory) else bytes(unpacked(body))
        jobs.put_part(key, "answer", content, self._reply_type)
        return jobs.end(key, state="succeeded", **fields).state

    def _until(self) -> float:
        """When a lease ends that begins now."""
        return self._means.now() + LEASE_SECONDS

    def _event_lines(self) -> bytes:
        return "\n".join(f"{number} {text}" for number, text in self._events).encode()

    def _problem(self, answer: TaskFailed | Exception) -> dict[str, Any]:
        """The document of a problem; an unexpected one is logged."""
        error: Exception
        if isinstance(answer, TaskFailed):
            error = RemoteError(answer.problem, answer.trace)
        else:
            error = answer
        problem = problem_of(error)
        if not problem.expected:
            logger.error("a job failed", exc_info=error, extra={"job": self.key.id})
        document: dict[str, Any] = orjson.loads(problem.body(self.key.id))
        document["instance"] = f"urn:gradwire:job:{self.key.id}"
        return document


def _is_late(answer: object) -> bool:
    """True if the work has not ended by its deadline, as the queue or the work itself reports."""
    if isinstance(answer, TaskFailed):
        return answer.problem.code == "deadline_exceeded"
    return isinstance(answer, DeadlineExceeded)


def _is_refused(answer: object) -> bool:
    """True if this replica has no room for the work, or stops."""
    return isinstance(answer, RequestError) and answer.code in ("draining", "overloaded")


def _is_away(answer: object) -> bool:
    """True if what the work needs was lost: store or cluster. A job that has begun waits for it."""
    return isinstance(answer, TaskFailed) and answer.problem.status == 503
