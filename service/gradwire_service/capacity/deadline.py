"""How long work may take, and when it is to look whether others should go first."""

from __future__ import annotations

import math
from time import monotonic
from typing import Any, Protocol

from gradwire_engine.errors import DeadlineExceeded

#: How long work on the event loop may take before it is moved to a thread.
INLINE_SECONDS = 0.005


class Turns(Protocol):
    """Where work that polls takes turns with other work."""

    def pass_on(self) -> float:
        """Let others go first where they should; until when then to go on."""


class Deadline:
    """The moment a request's time is over; call it to have ``DeadlineExceeded`` raised then.

    Being called is also how work takes turns: after its slice of time it lets others go first.
    """

    __slots__ = ("_cancelled", "_end", "_look_at", "_start", "_turns", "allowed_ms", "held_bytes")

    def __init__(self, allowed_ms: float) -> None:
        self._start = monotonic()
        self._turns: Turns | None = None
        #: What the work may hold, as far as it is known, also while others go first.
        self.held_bytes = 0
        self._cancelled = False
        self._look_at = 0.0
        self.allow(allowed_ms)

    def __reduce__(self) -> tuple[Any, ...]:
        """As another process of the same machine has it: its clock is the same."""
        return _remade, (self._start, self._end, self.allowed_ms)

    def allow(self, allowed_ms: float) -> None:
        """Move the deadline to ``allowed_ms`` after the request's start."""
        self.allowed_ms = allowed_ms
        self._end = self._start + allowed_ms / 1000
        self._look_at = self._end if self._turns is None else min(self._end, self._look_at)
        if self._cancelled:  # perhaps just now: a body is read, and says how long, in a thread
            self.cancel()

    def take_turns(self, turns: Turns, until: float) -> None:
        """From now on let others go first, next at ``until``; call it before the work begins."""
        self._turns = turns
        self._look_at = min(self._end, until)

    def take_no_turns(self) -> None:
        """The work that took them is over."""
        self._turns = None
        self._look_at = self._end

    def cancel(self) -> None:
        """Stop the work at its next poll: nobody waits for it any more. From any thread."""
        self._cancelled = True
        self._end = self._look_at = -math.inf

    def __call__(self) -> None:
        if monotonic() > self._look_at:
            self._look()

    def remaining_seconds(self) -> float:
        return self._end - monotonic()

    def exceeded(self) -> DeadlineExceeded:
        return DeadlineExceeded(
            f"the request was stopped after its {self.allowed_ms:g} ms",
            hint="allow more with timeout_ms, or send less work",
        )

    def _look(self) -> None:
        if monotonic() <= self._end and self._turns is not None:
            until = self._turns.pass_on()
            self._look_at = min(self._end, until)  # which may have been cancelled meanwhile
        if monotonic() > self._end:
            raise self.exceeded()


def _remade(start: float, end: float, allowed_ms: float) -> Deadline:
    deadline = Deadline(allowed_ms)
    deadline._start = start
    deadline._end = deadline._look_at = end
    return deadline


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
