"""Which task runs when, and what is refused: a bounded queue, fair between owners."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Protocol

from gradwire_service.problems import Refusal
from gradwire_service.scheduling.deadline import Deadline
from gradwire_service.scheduling.line import Line

#: How long after a deadline the work itself gets to say where it was stopped.
GRACE_SECONDS = 0.1
#: What has run for longer leaves its core to be shared: another task may begin beside it.
LONG_SECONDS = 0.25
#: What is known to take less may have an executor that is kept free for others' tasks.
SHORT_SECONDS = 0.1
#: What a task is expected to take before any has run, and how soon a newer one counts for more.
_FIRST_SECONDS, _NEWER = 0.005, 0.1
#: What is left of sums when all is taken away again.
_NO_SECONDS = 1e-9
_LONGEST_RETRY_SECONDS = 60
#: The part of the longest wait after which work is not begun any more: it takes a while itself.
_LATEST_PART = 0.9
#: By so much event loops may wake too soon.
_TICK_SECONDS = 0.001
#: Of so many things it is remembered where they were done.
_MOST_HOMES = 10_000


class Bounds(NamedTuple):
    """How much may wait: tasks, bytes of their bodies, and how long all of it may take."""

    requests: int
    nbytes: int
    seconds: float = math.inf


class Executor(Protocol):
    """What does one task at a time, called on the event loop."""

    #: Whether it may be given another task.
    alive: bool

    def begin(self, task: Any, answered: Callable[[Any], None]) -> None:
        """Do a task, and call ``answered`` with what comes of it, once, on the event loop."""

    def stop(self) -> None:
        """Stop the task at its next poll."""

    def kill(self) -> None:
        """Stop it at once, where that is possible."""


class Ran(NamedTuple):
    """What came of a task, how long it waited, and who did it."""

    answer: Any
    waited_seconds: float
    executor: Executor


class Job:
    """A task on its way through the queue; ``answer`` is what came of it."""

    __slots__ = (
        "answer",
        "began_at",
        "counted",
        "deadline",
        "executor",
        "expected_seconds",
        "home",
        "nbytes",
        "owner",
        "queued_at",
        "short",
        "task",
    )

    def __init__(
        self,
        task: Any,
        deadline: Deadline,
        owner: str,
        nbytes: int,
        expected_seconds: float,
        home: str | None,
    ) -> None:
        self.task = task
        self.deadline = deadline
        self.owner = owner
        self.nbytes = nbytes
        self.expected_seconds = expected_seconds
        self.home = home
        self.executor: Executor | None = None
        self.queued_at = monotonic()
        self.began_at = math.inf
        #: Whether it is known that it takes little.
        self.short = False
        #: Whether it is among what the queue has to do.
        self.counted = False
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @property
    def waited_seconds(self) -> float:
        """How long it waited, or has so far."""
        return min(self.began_at, monotonic()) - self.queued_at


class Queue:
    """Hands tasks to executors: ``cores`` at a time, but for those that have run for long.

    These share the cores with others, as the system does it, as long as there are executors. Where
    there are more than cores, one is kept for an owner who has none, and for short tasks. Only on
    the event loop.
    """

    def __init__(
        self, cores: int, bounds: Bounds, waited: Callable[[float], None] = lambda _: None
    ) -> None:
        self._cores = cores
        self.bounds = bounds
        self._waited = waited
        self._idle: list[Executor] = []
        self._line = Line[Job]()
        self._running: dict[Executor, Job] = {}
        self._running_of = Counter[str]()
        self._jobs = 0
        self._bytes = 0
        #: What those of each owner are expected to take.
        self._seconds: dict[str, float] = {}
        self._usual = _Usual()
        self._homes: OrderedDict[str, Executor] = OrderedDict()
        self._look: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def requests(self) -> int:
        """Tasks that wait or run."""
        return self._jobs

    def add(self, executor: Executor) -> None:
        """Have one more executor."""
        self._idle.append(executor)
        self._dispatch()

    def discard(self, executor: Executor) -> None:
        """Have an executor no longer, which has ended."""
        if executor in self._idle:
            self._idle.remove(executor)

    async def run(
        self,
        task: Any,
        deadline: Deadline,
        nbytes: int,
        *,
        owner: str = "",
        expected_seconds: float | None = None,
        home: str | None = None,
    ) -> Ran:
        """Have a task done, and wait for that. Who is cancelled meanwhile stops it.

        It holds ``nbytes`` meanwhile and is expected to take so long, or what is usual; it goes
        where others of the same ``home`` were done, if that is idle.
        Raises: ``Refusal`` (overloaded) at once when the queue is full, or too long for the
        deadline, later when it has to make room for other owners' tasks or has waited for too long;
        ``DeadlineExceeded`` when its time is over, also where the work does not poll for it.
        """
        known = expected_seconds is not None
        expected = self._usual.seconds if expected_seconds is None else expected_seconds
        self._make_room(deadline, nbytes, owner)
        job = Job(task, deadline, owner, nbytes, expected, home)
        job.short = known and expected < SHORT_SECONDS
        self._count(job)
        self._line.add(job)
        self._dispatch()
        try:
            answer = await _within(job.answer, deadline)
        finally:
            self._leave(job)
        if not known:
            self._usual.learn(monotonic() - job.began_at)
        assert job.executor is not None
        return Ran(answer, job.waited_seconds, job.executor)

    def close(self) -> Sequence[Executor]:
        """Take nothing more and drop what waits; gives the executors there are."""
        self._closed = True
        for job in self._line.all():
            self._line.remove(job)
            self._fail(job, draining())
        return [*self._idle, *self._running]

    def _count(self, job: Job, *, counted: bool = True) -> None:
        """Have a job among what there is to do, or no longer."""
        if job.counted == counted:
            return
        job.counted, sign = counted, 1 if counted else -1
        self._jobs += sign
        self._bytes += sign * job.nbytes
        seconds = self._seconds.pop(job.owner, 0.0) + sign * job.expected_seconds
        if seconds > _NO_SECONDS:
            self._seconds[job.owner] = seconds

    def _fail(self, job: Job, error: BaseException) -> None:
        """End a job that has not begun, or whose executor has ended."""
        self._count(job, counted=False)
        if not job.answer.done():
            job.answer.set_exception(error)

    def _leave(self, job: Job) -> None:
        """Nobody waits for a job any more."""
        if job.answer.done() and not job.answer.cancelled():
            job.answer.exception()  # it need not be told to anybody
        if job.executor is None:
            if not job.answer.done():
                self._line.remove(job)
                job.answer.cancel()
            self._count(job, counted=False)
            return
        if self._running.get(job.executor) is not job:
            return
        job.answer.cancel()
        if job.deadline.remaining_seconds() + GRACE_SECONDS <= 0:
            job.executor.kill()
            return
        job.deadline.cancel()
        job.executor.stop()
        loop = asyncio.get_running_loop()
        loop.call_later(GRACE_SECONDS, self._kill, job)

    def _kill(self, job: Job) -> None:
        """Kill what has not stopped."""
        if job.executor is not None and self._running.get(job.executor) is job:
            job.executor.kill()

    def _dispatch(self) -> None:
        """Let begin what may."""
        now = monotonic()
        while self._line and self._idle and not self._closed:
            began = [job.began_at for job in self._running.values()]
            recent = [at for at in began if now - at < LONG_SECONDS]
            if len(recent) >= self._cores:
                self._dispatch_in(min(recent) + LONG_SECONDS - now)
                return
            job = self._line.take(self._may_begin)
            if job is None:
                return
            refusal = self._too_late(job)
            if refusal is None:
                self._begin(job)
            else:
                self._fail(job, refusal)

    def _dispatch_in(self, seconds: float) -> None:
        """Look again when a task will have run for long, once for all that wait."""
        if self._look is None:
            loop = asyncio.get_running_loop()
            self._look = loop.call_later(seconds + _TICK_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        self._dispatch()

    def _may_begin(self, job: Job) -> bool:
        """Of more than there are cores, the last that is idle is kept.

        It is for an owner who has none, and for what is known to be short.
        """
        if len(self._idle) > 1 or len(self._idle) + len(self._running) <= self._cores:
            return True
        return not self._running_of[job.owner] or job.short

    def _begin(self, job: Job) -> None:
        executor = self._homes.get(job.home) if job.home is not None else None
        if executor is None or executor not in self._idle:
            executor = self._idle[-1]
        self._idle.remove(executor)
        if job.home is not None:
            self.remember(job.home, executor)
        job.executor = executor
        job.began_at = monotonic()
        self._running[executor] = job
        self._running_of[job.owner] += 1
        self._waited(job.waited_seconds)

        def answered(answer: Any) -> None:
            del self._running[executor]
            self._running_of[job.owner] -= 1
            if not self._running_of[job.owner]:
                del self._running_of[job.owner]
            self._count(job, counted=False)
            if executor.alive:
                self._idle.append(executor)
            if isinstance(answer, BaseException):
                self._fail(job, answer)
            elif not job.answer.done():
                job.answer.set_result(answer)
            self._dispatch()

        executor.begin(job.task, answered)

    def remember(self, home: str, executor: Executor) -> None:
        """What is asked of ``home`` is best done there from now on."""
        self._homes[home] = executor
        self._homes.move_to_end(home)
        if len(self._homes) > _MOST_HOMES:
            self._homes.popitem(last=False)

    def _wait_seconds(self, owner: str) -> float:
        """How long an owner's queue is: owners are served in turn."""
        return self._seconds.get(owner, 0.0) * len(self._seconds) / self._cores

    def _make_room(self, deadline: Deadline, nbytes: int, owner: str) -> None:
        """Refuse what is too much, or what another owner has too much of."""
        if self._closed:
            raise draining()
        while (refusal := self._refusal(deadline, nbytes, owner)) is not None:
            last = self._line.longest()
            if last is None or last.owner == owner:
                raise refusal
            if self._line.count_of(owner) >= self._line.count_of(last.owner) - 1:
                raise refusal
            self._line.remove(last)
            retry_seconds = self._retry_seconds(last.owner)
            self._fail(last, overloaded("dropped to make room for another tenant", retry_seconds))

    def _refusal(self, deadline: Deadline, nbytes: int, owner: str) -> Refusal | None:
        """Why not to take more, if so."""
        if self._jobs < self._cores and self._bytes + nbytes <= self.bounds.nbytes:
            return None
        wait_seconds = self._wait_seconds(owner)
        full = self._jobs >= self._cores and not self._begins_soon(owner)
        if (
            self._jobs >= self._cores + self.bounds.requests
            or (self._jobs and self._bytes + nbytes > self.bounds.nbytes)
            or (full and wait_seconds > self.bounds.seconds)
        ):
            detail = f"{self._jobs} requests are waiting or running"
            return overloaded(detail, self._retry_seconds(owner))
        if full and wait_seconds > deadline.remaining_seconds() > 0:
            detail = (
                f"the queue is {wait_seconds:.1f} s long, more than the time left for the request"
            )
            return overloaded(detail, self._retry_seconds(owner))
        return None

    def _begins_soon(self, owner: str) -> bool:
        """Whether an executor is there as soon as what runs has run for long."""
        kept = 1 if self._running_of[owner] else 0
        return not self._line and len(self._idle) > kept

    def _too_late(self, job: Job) -> Refusal | None:
        """Why not to begin a job now: others may take longer than they did when it was taken on."""
        if job.waited_seconds <= _LATEST_PART * self.bounds.seconds:
            return None
        detail = f"it waited {job.waited_seconds:.1f} s in the queue, which is too long"
        return overloaded(detail, self._retry_seconds(job.owner))

    def _retry_seconds(self, owner: str) -> int:
        """When what an owner has queued now will be done."""
        return min(math.ceil(self._wait_seconds(owner)) or 1, _LONGEST_RETRY_SECONDS)


async def _within(answer: asyncio.Future[Any], deadline: Deadline) -> Any:
    """The answer, if it comes in time; whoever reads the body, in any thread, may move that."""
    loop = asyncio.get_running_loop()
    try:
        while not answer.done():
            moved = loop.create_future()
            deadline.moved = partial(loop.call_soon_threadsafe, _complete, moved)
            patience = deadline.remaining_seconds() + GRACE_SECONDS
            if patience <= 0:
                raise deadline.exceeded()
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait((answer, moved), timeout=patience, return_when=first)
    finally:
        deadline.moved = None
    return answer.result()


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class _Usual:
    """How long work takes of which nothing is known: the geometric mean, as it was lately."""

    def __init__(self) -> None:
        self._log = math.log(_FIRST_SECONDS)

    @property
    def seconds(self) -> float:
        """What work is expected to take."""
        return math.exp(self._log)

    def learn(self, seconds: float) -> None:
        """Count a task that was done."""
        self._log += _NEWER * (math.log(max(seconds, _NO_SECONDS)) - self._log)


def overloaded(detail: str, retry_after_seconds: int) -> Refusal:
    """The refusal of what is more than is taken at a time."""
    return Refusal(
        "overloaded",
        detail,
        hint="retry after the time in the Retry-After header",
        retry_after_seconds=retry_after_seconds,
    )


def draining() -> Refusal:
    """The refusal of what comes when the service is about to stop."""
    return Refusal(
        "draining",
        "this replica is shutting down; retry on another one",
        retry_after_seconds=1,
    )
