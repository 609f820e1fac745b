"""Deadlines of requests."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_engine.errors import DeadlineExceeded

#: Work on the event loop is offloaded after this time.
INLINE_SECONDS = 0.005


class Deadline:
    """A request's deadline; calling it raises ``DeadlineExceeded`` once it has passed."""

    __slots__ = ("_cancelled", "_clock", "_end", "_start", "allowed_ms", "on_move")

    def __init__(self, allowed_ms: float, clock: Callable[[], float] = monotonic) -> None:
        #: Called when the deadline moves, in the thread that moves it.
        self.on_move: Callable[[], object] | None = None
        self._clock = clock
        self._start = clock()
        self._cancelled = False
        self.allow(allowed_ms)

    def __reduce__(self) -> tuple[Any, ...]:
        """Processes of one machine share the monotonic clock, and no other."""
        start = self._start
        if self._clock is not monotonic:
            start += monotonic() - self._clock()
        return _restore, (start, self.allowed_ms)

    def allow(self, allowed_ms: float) -> None:
        """Move the deadline to ``allowed_ms`` after the request's start."""
        self.allowed_ms = allowed_ms
        self._end = self._start + allowed_ms / 1000
        if self._cancelled:  # perhaps while another thread read the timeout from the body
            self.cancel()
        if (on_move := self.on_move) is not None:
            on_move()

    def renewed(self) -> Deadline:
        """The same deadline for work that begins anew, also if this one was cancelled."""
        return _restore(self._start, self.allowed_ms, self._clock)

    def cancel(self) -> None:
        """Stop the work at its next poll. Thread-safe."""
        self._cancelled = True
        self._end = -math.inf

    def __call__(self) -> None:
        if self._clock() > self._end:
            raise self.exceeded()

    def remaining_seconds(self) -> float:
        """Seconds until the deadline; negative afterwards."""
        return self._end - self._clock()

    def exceeded(self) -> DeadlineExceeded:
        """The error of a request after its deadline."""
        return DeadlineExceeded(
            f"the request exceeded its deadline of {self.allowed_ms:g} ms",
            hint="increase timeout_ms, or send less work",
        )


def _restore(start: float, allowed_ms: float, clock: Callable[[], float] = monotonic) -> Deadline:
    deadline = Deadline(allowed_ms, clock)
    deadline._start = start
    deadline.allow(allowed_ms)
    return deadline


class TooLongInline(DeadlineExceeded):
    """Work that was predicted to be short is not: it is offloaded and starts again."""


class InlineDeadline:
    """Stops work on the event loop early, so that other requests do not wait."""

    __slots__ = ("_clock", "_end")

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._end = clock() + INLINE_SECONDS

    def __call__(self) -> None:
        if self._clock() > self._end:
            raise TooLongInline("too long for the event loop")
