"""How long a request may take."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_engine.errors import DeadlineExceeded

#: How long work on the event loop may take before it is on_move elsewhere.
INLINE_SECONDS = 0.005


class Deadline:
    """The moment a request's time is over; call it to have ``DeadlineExceeded`` raised then."""

    __slots__ = ("_cancelled", "_end", "_start", "allowed_ms", "on_move")

    def __init__(self, allowed_ms: float) -> None:
        #: Called when it is on_move, by whoever moves it.
        self.on_move: Callable[[], object] | None = None
        self._start = monotonic()
        self._cancelled = False
        self.allow(allowed_ms)

    def __reduce__(self) -> tuple[Any, ...]:
        """As another process of the same machine has it: its clock is the same."""
        return _restore, (self._start, self.allowed_ms)

    def allow(self, allowed_ms: float) -> None:
        """Move the deadline to ``allowed_ms`` after the request's start."""
        self.allowed_ms = allowed_ms
        self._end = self._start + allowed_ms / 1000
        if self._cancelled:  # perhaps just now: a body is read, and says how long, elsewhere
            self.cancel()
        if (on_move := self.on_move) is not None:
            on_move()

    def cancel(self) -> None:
        """Stop the work at its next poll: nobody waits for it any more. From any thread."""
        self._cancelled = True
        self._end = -math.inf

    def __call__(self) -> None:
        if monotonic() > self._end:
            raise self.exceeded()

    def remaining_seconds(self) -> float:
        """How long until it is over; negative afterwards."""
        return self._end - monotonic()

    def exceeded(self) -> DeadlineExceeded:
        """The error of a request whose time is over."""
        return DeadlineExceeded(
            f"the request was stopped after its {self.allowed_ms:g} ms",
            hint="allow more with timeout_ms, or send less work",
        )


def _restore(start: float, allowed_ms: float) -> Deadline:
    deadline = Deadline(allowed_ms)
    deadline._start = start
    deadline.allow(allowed_ms)
    return deadline


class TooLongInline(DeadlineExceeded):
    """Work that was predicted to be short is not: it begins anew elsewhere."""


class InlineDeadline:
    """Stops work on the event loop soon, so that nobody else waits for it."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = monotonic() + INLINE_SECONDS

    def __call__(self) -> None:
        if monotonic() > self._end:
            raise TooLongInline("too long for the event loop")
