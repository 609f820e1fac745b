"""What may run, what must wait, and what is refused: a pool with a bounded queue in front."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from gradwire_service.capacity.deadline import Deadline
from gradwire_service.capacity.jobs import Job
from gradwire_service.capacity.pool import Pool
from gradwire_service.problems import Refusal

Result = TypeVar("Result")

#: How long after a deadline the work itself gets to say where it was stopped.
GRACE_SECONDS = 0.1
#: What a job is expected to take before any has run, and how soon a newer one counts for more.
_FIRST_SECONDS, _NEWER = 0.005, 0.1
#: What is left of sums when all is taken away again.
_NO_SECONDS = 1e-9
_LONGEST_RETRY_SECONDS = 60
#: The part of the longest wait after which work is not begun any more: it takes a while itself.
_LATEST_PART = 0.9


class Bounds(NamedTuple):
    """How much may wait: requests, bytes of their bodies, and how long all of it may take.

    ``paused_bytes`` is what may be held by work that lets others go first, and of jobs ``begun``
    times as many may have begun as run.
    """

    requests: int
    nbytes: int
    seconds: float = math.inf
    paused_bytes: int = 1 << 28
    begun: int = 8


class Queue:
    """A pool, so many jobs of which run at a time, with a bounded queue in front.

    Only on the event loop, but for what threads say when they are done.
    """

    def __init__(
        self, most_running: int, bounds: Bounds, waited: Callable[[float], None] = lambda _: None
    ) -> None:
        self._most_running = most_running
        self._pool = Pool(most_running, bounds.paused_bytes, bounds.begun)
        self.bounds = bounds
        self._lock = threading.Lock()
        #: Requests that wait or run.
        self.requests = 0
        self._bytes = 0
        #: What those of each owner are expected to take.
        self._seconds: dict[str, float] = {}
        self._usual = _Usual()
        #: Is told how long each piece of work waited for its thread, in that thread.
        self._waited = waited

    async def run(
        self,
        work: Callable[[], Result],
        deadline: Deadline,
        nbytes: int,
        *,
        owner: str = "",
        seconds: float | None = None,
    ) -> Result:
        """Run ``work`` in a thread: ``start`` it, and wait for its answer."""
        running = self.start(work, deadline, nbytes, owner=owner, seconds=seconds)
        try:
            return await running.answer
        finally:
            running.end()
            del running  # whose error holds this frame

    def start(
        self,
        work: Callable[[], Result],
        deadline: Deadline,
        nbytes: int,
        *,
        owner: str = "",
        seconds: float | None = None,
        held_up: Callable[[bool], None] | None = None,
    ) -> Running[Result]:
        """Have ``work`` run in a thread; its queueing counts against the deadline.

        ``work`` may move the deadline on. It holds ``nbytes`` while it waits, and is expected to
        take so many ``seconds``, or what is usual; ``held_up`` is called in its thread when others
        go first, and when it goes on.
        Raises: ``Refusal`` (overloaded) at once when the queue is full, or too long for the
        deadline. The answer raises it when it has to make room for other owners' work or has
        waited for too long, and ``DeadlineExceeded`` when time runs out, also where the work does
        not poll for it.
        """
        expected_seconds = self._usual.seconds if seconds is None else seconds
        self._make_room(deadline, nbytes, owner)
        running = Running[Result](deadline, self._pool)
        with self._lock:
            self.requests += 1
            self._bytes += nbytes
            self._expect(owner, expected_seconds)

        def done(job: Job) -> None:
            with self._lock:
                self.requests -= 1
                self._bytes -= nbytes
                self._expect(owner, -expected_seconds)
                if job.thread and seconds is None:
                    self._usual.learn(job.ran_seconds)
            if job.thread:
                self._waited(job.waited_seconds)
            elif job.error is None:
                job.error = draining()
            running.done(job)

        job = running.job = Job(
            work, deadline, owner, expected_seconds, done, self._too_late, held_up
        )
        self._pool.submit(job)
        return running

    def close(self) -> None:
        """Let running work end and drop what still waits."""
        self._pool.close()

    def _expect(self, owner: str, seconds: float) -> None:
        expected = self._seconds.pop(owner, 0.0) + seconds
        if expected > _NO_SECONDS:
            self._seconds[owner] = expected

    def _wait_seconds(self, owner: str) -> float:
        """How long an owner's queue is: owners are served in turn."""
        return self._seconds.get(owner, 0.0) * len(self._seconds) / self._most_running

    def _make_room(self, deadline: Deadline, nbytes: int, owner: str) -> None:
        """Refuse what is too much, or what another owner has too much of."""
        while (refusal := self._refusal(deadline, nbytes, owner)) is not None:
            longest = self._pool.longest_line()
            if longest is None:
                raise refusal
            whose, last = longest
            if whose == owner or self._pool.waiting_of(owner) >= self._pool.waiting_of(whose) - 1:
                raise refusal
            last.error = overloaded("others' requests come first", self._retry_seconds(whose))
            self._pool.withdraw(last)

    def _refusal(self, deadline: Deadline, nbytes: int, owner: str) -> Refusal | None:
        """Why not to take more, if so."""
        if self.requests < self._most_running and self._bytes + nbytes <= self.bounds.nbytes:
            return None
        wait_seconds = self._wait_seconds(owner)
        if (
            self.requests >= self._most_running + self.bounds.requests
            or (self.requests and self._bytes + nbytes > self.bounds.nbytes)
            or (self.requests >= self._most_running and wait_seconds > self.bounds.seconds)
        ):
            detail = f"{self.requests} requests are waiting or running"
            return overloaded(detail, self._retry_seconds(owner))
        if self.requests >= self._most_running and wait_seconds > deadline.remaining_seconds() > 0:
            detail = f"the queue is {wait_seconds:.1f} s long, more than the request's time"
            return overloaded(detail, self._retry_seconds(owner))
        return None

    def _too_late(self, job: Job) -> Refusal | None:
        """Why not to begin a job now: jobs may take longer than they did when it was taken on."""
        if job.waited_seconds <= _LATEST_PART * self.bounds.seconds:
            return None
        detail = f"it has waited for {job.waited_seconds:.1f} s, which is too long"
        return overloaded(detail, self._retry_seconds(job.owner))

    def _retry_seconds(self, owner: str) -> int:
        """When what an owner has queued now will be done."""
        return min(math.ceil(self._wait_seconds(owner)) or 1, _LONGEST_RETRY_SECONDS)


class Running(Generic[Result]):
    """For what a thread comes to, on the event loop, until a deadline and a grace."""

    job: Job | None = None

    def __init__(self, deadline: Deadline, pool: Pool) -> None:
        self._told = False
        self._deadline = deadline
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Result] = self._loop.create_future()
        self._wait_on()

    def end(self) -> float:
        """Wait no longer; what has not begun must not begin, and what runs is to stop.

        Gives how long it waited for a thread.
        """
        self._timer.cancel()
        job, self.job = self.job, None  # whose error holds the request's body
        if job is None:
            return 0.0
        if not self._told:
            self.answer.cancel()
            job.deadline.cancel()
            self._pool.withdraw(job)
        return job.waited_seconds

    def done(self, job: Job) -> None:
        """Called by the job, in its thread."""
        with suppress(RuntimeError):  # the loop has ended, so nobody waits
            self._loop.call_soon_threadsafe(self._tell, job)

    def _wait_on(self) -> None:
        seconds = max(self._deadline.remaining_seconds(), 0) + GRACE_SECONDS
        self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        if self._deadline.remaining_seconds() > 0:
            self._wait_on()
        elif not self.answer.done():
            self.answer.set_exception(self._deadline.exceeded())

    def _tell(self, job: Job) -> None:
        self._told = True
        if self.answer.done():
            return
        if job.error is None:
            self.answer.set_result(job.result)
        else:
            self.answer.set_exception(job.error)


class _Usual:
    """How long work takes of which nothing is known: the geometric mean, as it was lately."""

    def __init__(self) -> None:
        self._log = math.log(_FIRST_SECONDS)

    @property
    def seconds(self) -> float:
        """What work is expected to take."""
        return math.exp(self._log)

    def learn(self, seconds: float) -> None:
        """Count a job that has run."""
        self._log += _NEWER * (math.log(max(seconds, _NO_SECONDS)) - self._log)


def overloaded(detail: str, retry_after_seconds: int) -> Refusal:
    """The refusal of what is more than is taken at a time."""
    return Refusal(
        "overloaded",
        detail,
        hint="repeat after the time given in Retry-After",
        retry_after_seconds=retry_after_seconds,
    )


def draining() -> Refusal:
    """The refusal of what comes when the service is about to stop."""
    return Refusal(
        "draining",
        "this replica is stopping; another one will answer",
        retry_after_seconds=1,
    )
