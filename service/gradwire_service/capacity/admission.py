"""What may run, what must wait, and what is refused: the queue's bounds, and draining."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Generic, TypeVar

from gradwire_service.capacity.deadline import Deadline
from gradwire_service.capacity.jobs import Job
from gradwire_service.capacity.pool import Pool
from gradwire_service.problems import Refusal

Result = TypeVar("Result")

#: How long after a deadline the work itself gets to say where it was stopped.
GRACE_SECONDS = 0.1
#: Requests that come at once are all taken up one after the other before the event loop looks at
#: anything else: those for which that takes longer than this are refused, but never the first few.
_ROUND_SECONDS, _ROUND_REQUESTS = 0.05, 16
#: What a job is expected to take before any has run, and how soon a newer one counts for more.
_FIRST_SECONDS, _NEWER = 0.005, 0.1
_LONGEST_RETRY_SECONDS = 60


class Capacity:
    """Few threads with a bounded queue in front, and the count of what is in flight.

    Only on the event loop, but for what threads say when they are done.
    """

    def __init__(
        self,
        *,
        threads: int,
        queue_requests: int,
        queue_bytes: int,
        queue_seconds: float = math.inf,
        waited: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.draining = False
        self.refusing = False
        self.in_flight = 0
        self._threads = threads
        self._pool = Pool(threads)
        self._most_requests = threads + queue_requests
        self._most_bytes = queue_bytes
        self._most_seconds = queue_seconds
        self._lock = threading.Lock()
        self._requests = 0
        self._bytes = 0
        #: What all that is queued is expected to take.
        self._seconds = 0.0
        self._usual = _Usual()
        #: Is told how long each piece of work waited for its thread, in that thread.
        self._waited = waited
        #: How many requests were taken up since the event loop last looked round, and since when.
        self._in_round = 0
        self._round_began = 0.0

    def enter(self) -> None:
        """Count a request in.

        Raises: ``Refusal`` (draining) when this replica is about to stop; (overloaded) when more
        has come at once than the event loop gets through in time.
        """
        if self.refusing:
            raise Refusal(
                "draining",
                "this replica is stopping; another one will answer",
                retry_after_seconds=1,
            )
        self._in_round += 1
        if self._in_round == 1:
            self._round_began = monotonic()
            asyncio.get_running_loop().call_soon(self._end_round)
        elif self._in_round > _ROUND_REQUESTS and monotonic() - self._round_began > _ROUND_SECONDS:
            raise _overloaded(f"{self._in_round} requests have come at once", 1)
        self.in_flight += 1

    def leave(self) -> None:
        self.in_flight -= 1

    @property
    def queued(self) -> int:
        """Requests that wait for a thread or hold one."""
        return self._requests

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
    ) -> Running[Result]:
        """Have ``work`` run in a thread; its queueing counts against the deadline.

        ``work`` may move the deadline on. It holds ``nbytes`` while it waits, and is predicted to
        take so many ``seconds``, or what is usual.
        Raises: ``Refusal`` (overloaded) at once when the queue is full, or too long for the
        deadline. The answer raises it when it has to make room for other owners' work, and
        ``DeadlineExceeded`` when time runs out, also where the work does not poll for it.
        """
        expected_seconds = self._usual.seconds(seconds)
        self._make_room(deadline, nbytes, owner, expected_seconds)
        running = Running[Result](deadline, self._pool)
        with self._lock:
            self._requests += 1
            self._bytes += nbytes
            self._seconds += expected_seconds

        def done(job: Job) -> None:
            with self._lock:
                self._requests -= 1
                self._bytes -= nbytes
                self._seconds -= expected_seconds
                if job.thread and job.error is None:
                    self._usual.learn(seconds, job.ran_seconds)
            if job.thread:
                self._waited(job.waited_seconds)
            running.done(job)

        job = running.job = Job(work, deadline, owner, expected_seconds, done)
        self._pool.submit(job)
        return running

    def _end_round(self) -> None:
        self._in_round = 0

    def close(self) -> None:
        """Let running work end and drop what still waits."""
        self._pool.close()

    def _make_room(self, deadline: Deadline, nbytes: int, owner: str, seconds: float) -> None:
        """Refuse what is too much, or what another owner has too much of."""
        while (refusal := self._refusal(deadline, nbytes, seconds)) is not None:
            longest = self._pool.longest_line()
            if longest is None:
                raise refusal
            whose, last = longest
            if whose == owner or self._pool.waiting_of(owner) >= self._pool.waiting_of(whose) - 1:
                raise refusal
            last.error = _overloaded("others' requests come first", self._retry_seconds())
            self._pool.withdraw(last)

    def _refusal(self, deadline: Deadline, nbytes: int, seconds: float) -> Refusal | None:
        """Why not to take more, if so."""
        if self._requests < self._threads and self._bytes + nbytes <= self._most_bytes:
            return None
        wait_seconds = self._seconds / self._threads
        if (
            self._requests >= self._most_requests
            or (self._requests and self._bytes + nbytes > self._most_bytes)
            or (self._requests >= self._threads and wait_seconds > self._most_seconds)
        ):
            detail = f"{self._requests} requests are waiting or running"
            return _overloaded(detail, self._retry_seconds())
        if self._requests >= self._threads and wait_seconds > deadline.remaining_seconds() > 0:
            detail = f"the queue is {wait_seconds:.1f} s long, more than the request's time"
            return _overloaded(detail, self._retry_seconds())
        return None

    def _retry_seconds(self) -> int:
        """When what is queued now will be done."""
        return min(math.ceil(self._seconds / self._threads) or 1, _LONGEST_RETRY_SECONDS)


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
    """How long jobs take: as predicted times what predictions were off by, or as others did."""

    def __init__(self) -> None:
        self._mean_seconds = _FIRST_SECONDS
        self._off_by = 1.0

    def seconds(self, predicted: float | None) -> float:
        """What a job is expected to take."""
        return self._mean_seconds if predicted is None else predicted * self._off_by

    def learn(self, predicted: float | None, seconds: float) -> None:
        """Count one that has run."""
        self._mean_seconds += _NEWER * (seconds - self._mean_seconds)
        if predicted:
            self._off_by += _NEWER * (min(seconds / predicted, 100.0) - self._off_by)


def _overloaded(detail: str, retry_after_seconds: int) -> Refusal:
    return Refusal(
        "overloaded",
        detail,
        hint="repeat after the time given in Retry-After",
        retry_after_seconds=retry_after_seconds,
    )
