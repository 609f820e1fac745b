"""What may run, what must wait, and what is refused: deadlines, the thread pool, draining."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TypeVar

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
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()

        def done(future: Future[Result]) -> None:
            self._release(nbytes)
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(_pass_on, future, answer)

        def give_up() -> None:
            seconds = deadline.remaining_seconds()
            if seconds > 0:
                nonlocal timer
                timer = loop.call_later(seconds + GRACE_SECONDS, give_up)
            elif not answer.done():
                answer.set_exception(deadline.exceeded())

        future = self._pool.submit(work)
        future.add_done_callback(done)
        timer = loop.call_later(max(deadline.remaining_seconds(), 0) + GRACE_SECONDS, give_up)
        try:
            return await answer
        finally:
            timer.cancel()
            future.cancel()  # at once: what has not begun must not begin

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


def _pass_on(future: Future[Result], answer: asyncio.Future[Result]) -> None:
    """Give what a thread has come to, to whoever still waits for it."""
    if answer.done() or future.cancelled():
        return
    error = future.exception()
    if error is None:
        answer.set_result(future.result())
    else:
        answer.set_exception(error)
