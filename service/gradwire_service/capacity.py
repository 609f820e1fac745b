"""What may run, what must wait, and what is refused: deadlines, the thread pool, draining."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import Generic, TypeVar

from gradwire_engine.errors import DeadlineExceeded

from gradwire_service.problems import Refusal

Result = TypeVar("Result")

#: How long after a deadline the work itself gets to say where it was stopped.
GRACE_SECONDS = 0.1
#: How long work on the event loop may take before it is moved to a thread.
INLINE_SECONDS = 0.005


class Deadline:
    """The moment a request's time is over; call it to have ``DeadlineExceeded`` raised then."""

    __slots__ = ("_allowed_ms", "_end", "_start")

    def __init__(self, allowed_ms: float) -> None:
        self._start = monotonic()
        self.allow(allowed_ms)

    def allow(self, allowed_ms: float) -> None:
        """Move the deadline to ``allowed_ms`` after the request's start."""
        self._allowed_ms = allowed_ms
        self._end = self._start + allowed_ms / 1000

    def __call__(self) -> None:
        if monotonic() > self._end:
            raise self.exceeded()

    def remaining_seconds(self) -> float:
        return self._end - monotonic()

    def exceeded(self) -> DeadlineExceeded:
        return DeadlineExceeded(
            f"the request was stopped after its {self._allowed_ms:g} ms",
            hint="allow more with timeout_ms, or send less work",
        )


class TooLongInline(DeadlineExceeded):
    """Work that was predicted to be short is not: it continues, from its start, in a thread."""


class InlineDeadline:
    """Stops work on the event loop soon, so that nobody else waits for it."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = monotonic() + INLINE_SECONDS

    def __call__(self) -> None:
        if monotonic() > self._end:
            raise TooLongInline("too long for the event loop")


class Capacity:
    """A pool of few threads with a bounded queue in front, and the count of what is in flight."""

    def __init__(self, *, threads: int, queue_requests: int, queue_bytes: int) -> None:
        self.draining = False
        self.refusing = False
        self.in_flight = 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gradwire")
        self._most_requests = threads + queue_requests
        self._most_bytes = queue_bytes
        self._lock = threading.Lock()
        self._requests = 0
        self._bytes = 0

    def enter(self) -> None:
        """Count a request in, or refuse it when this replica is about to stop."""
        if self.refusing:
            raise Refusal(
                "draining",
                "this replica is stopping; another one will answer",
                retry_after_seconds=1,
            )
        self.in_flight += 1

    def leave(self) -> None:
        self.in_flight -= 1

    @property
    def queued(self) -> int:
        """Requests that wait for a thread or hold one."""
        return self._requests

    async def run(self, work: Callable[[], Result], deadline: Deadline, nbytes: int) -> Result:
        """Run ``work`` in a thread; its queueing counts against the deadline.

        ``work`` may move the deadline on.
        Raises: ``Refusal`` (overloaded) at once when the queue is full; ``DeadlineExceeded`` when
        time runs out, also where the work does not poll for it.
        """
        self._admit(nbytes)
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._release(nbytes))
        waiting = _Waiting(future, deadline)
        try:
            return await waiting.answer
        finally:
            waiting.end()
            del waiting, future  # whose error holds this frame

    def close(self) -> None:
        """Let running work end and drop what still waits."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _admit(self, nbytes: int) -> None:
        with self._lock:
            full = self._requests >= self._most_requests
            heavy = self._requests > 0 and self._bytes + nbytes > self._most_bytes
            if full or heavy:
                raise Refusal(
                    "overloaded",
                    f"{self._requests} requests are waiting or running",
                    hint="repeat after the time given in Retry-After",
                    retry_after_seconds=1,
                )
            self._requests += 1
            self._bytes += nbytes

    def _release(self, nbytes: int) -> None:
        with self._lock:
            self._requests -= 1
            self._bytes -= nbytes


class _Waiting(Generic[Result]):
    """For what a thread comes to, on the event loop, until a deadline and a grace."""

    def __init__(self, future: Future[Result], deadline: Deadline) -> None:
        self._future = future
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Result] = self._loop.create_future()
        self._wait_on()
        future.add_done_callback(self._done)

    def end(self) -> None:
        """Wait no longer; at once, what has not begun must not begin."""
        self._timer.cancel()
        self._future.cancel()
        del self._future  # which holds its callback, so this, and the error with the request's body

    def _wait_on(self) -> None:
        seconds = max(self._deadline.remaining_seconds(), 0) + GRACE_SECONDS
        self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        if self._deadline.remaining_seconds() > 0:
            self._wait_on()
        elif not self.answer.done():
            self.answer.set_exception(self._deadline.exceeded())

    def _done(self, _: Future[Result]) -> None:
        with suppress(RuntimeError):  # the loop has ended, so nobody waits
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self.answer.done() or self._future.cancelled():
            return
        error = self._future.exception()
        if error is None:
            self.answer.set_result(self._future.result())
        else:
            self.answer.set_exception(error)
