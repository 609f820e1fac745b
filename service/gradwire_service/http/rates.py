"""Minimum rates of bodies and responses."""

from __future__ import annotations

from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.problems import RequestError


class RateWindow:
    """A minimum rate, checked in windows of some seconds.

    Each window must bring enough, whatever those before it brought: a pause and a trickle both
    fail.
    """

    __slots__ = ("_begin_bytes", "_end", "_min_bytes", "_seconds")

    def __init__(self, seconds: float, bytes_per_second: int) -> None:
        self._seconds = seconds
        self._min_bytes = max(1, seconds * bytes_per_second)
        self._begin_bytes = 0
        self._end = 0.0

    def begin(self, now: float, moved_bytes: int) -> None:
        """Begin a window; ``moved_bytes`` is the transfer's total up to now."""
        self._begin_bytes = moved_bytes
        self._end = now + self._seconds

    def is_late(self, now: float, moved_bytes: int) -> bool:
        """True if a window has ended and brought too little."""
        if now < self._end:
            return False
        late = moved_bytes - self._begin_bytes < self._min_bytes
        self.begin(now, moved_bytes)
        return late


class BodyRate:
    """The body that is arriving; its bytes count in the limiter until it is complete."""

    def __init__(self, limiter: ConnectionLimiter) -> None:
        settings = limiter.settings
        self._limiter = limiter
        self._window = RateWindow(settings.body_timeout_seconds, settings.min_bytes_per_second)
        self._bytes = 0

    def add(self, now: float, read_bytes: int) -> None:
        """Count what was read of it.

        Raises: ``RequestError`` (overloaded).
        """
        if not self._bytes:
            self._window.begin(now, 0)
        self._bytes += read_bytes
        self._limiter.arriving_bytes += read_bytes
        if self._limiter.arriving_bytes > self._limiter.settings.max_arriving_bytes:
            raise RequestError("overloaded", "too many uploads in progress", retry_after_seconds=1)

    def end(self) -> None:
        """Count it no more: it is complete, or not waited for."""
        self._limiter.arriving_bytes -= self._bytes
        self._bytes = 0

    def is_late(self, now: float, *, awaited: bool) -> bool:
        """True if it arrives too slowly; not while the service does not read it."""
        if not awaited:
            self._window.begin(now, self._bytes)
        return awaited and self._window.is_late(now, self._bytes)


class WriteRate:
    """The rate at which a client takes a response."""

    def __init__(self, limiter: ConnectionLimiter) -> None:
        settings = limiter.settings
        self._window = RateWindow(settings.send_timeout_seconds, settings.min_bytes_per_second)
        #: The bytes left at the last check, and those taken since the check before.
        self.unsent_bytes = self.taken_bytes = 0

    def is_late(self, now: float, unsent_bytes: int) -> bool:
        """True if the client takes it too slowly, with ``unsent_bytes`` left."""
        before, self.unsent_bytes = self.unsent_bytes, unsent_bytes
        self.taken_bytes = max(0, before - unsent_bytes)
        if before and 0 < unsent_bytes <= before:
            return self._window.is_late(now, -unsent_bytes)
        self._window.begin(now, -unsent_bytes)
        return False
