"""What arrives and what leaves: how much, and whether it moves."""

from __future__ import annotations

from typing import Protocol

from gradwire_service.edge.heads import malformed
from gradwire_service.problems import Refusal
from gradwire_service.settings import Settings

#: What chunks' sizes and ends may take: so many bytes, and this part of the body.
FRAMING_BYTES = 1 << 20
FRAMING_PART = 16


class Pace:
    """A speed that is to be kept, looked at in windows of some seconds.

    A window that brings too little is late, whatever those before it brought: neither a pause
    longer than two windows passes nor a byte now and then.
    """

    __slots__ = ("_from_bytes", "_least_bytes", "_seconds", "_until")

    def __init__(self, seconds: float, bytes_per_second: int) -> None:
        self._seconds = seconds
        self._least_bytes = max(1, seconds * bytes_per_second)
        self._from_bytes = 0
        self._until = 0.0

    def begin(self, now: float, moved_bytes: int) -> None:
        """Begin a window; ``moved_bytes`` are those of the transfer up to now."""
        self._from_bytes = moved_bytes
        self._until = now + self._seconds

    def is_late(self, now: float, moved_bytes: int) -> bool:
        """Whether a window has ended that brought too little."""
        if now < self._until:
            return False
        late = moved_bytes - self._from_bytes < self._least_bytes
        self.begin(now, moved_bytes)
        return late


class Total(Protocol):
    """What is counted for all connections together."""

    #: Bytes of bodies that are not whole yet.
    arriving_bytes: int


class Arrival:
    """A body that takes more than one read: its bytes, those around them, and their speed."""

    def __init__(self, settings: Settings, total: Total) -> None:
        self._settings = settings
        self._total = total
        self._pace = Pace(settings.body_timeout_seconds, settings.min_bytes_per_second)
        self.begun = False
        self._bytes = 0
        self._framing_bytes = 0
        self._bare_bytes = 0

    def see(self, now: float, body_bytes: int, read_bytes: int) -> None:
        """So much of it is here, of the last read so many bytes are behind its head.

        Raises: ``Refusal`` (malformed_request, overloaded).
        """
        if not self.begun:
            self.begun = True
            self._framing_bytes = self._bare_bytes = 0
            self._pace.begin(now, body_bytes)
        settings = self._settings
        added = body_bytes - self._bytes
        self._bytes = body_bytes
        self._total.arriving_bytes += added
        if added:
            self._bare_bytes = 0
            self._framing_bytes += max(0, read_bytes - added)
        else:
            self._bare_bytes += read_bytes
        most = FRAMING_BYTES + body_bytes // FRAMING_PART
        if self._framing_bytes > most or self._bare_bytes > settings.max_head_bytes:
            hint = "send larger chunks, without extensions"
            raise malformed("the chunks of the body take more bytes than it has", hint)
        if self._total.arriving_bytes > settings.max_arriving_bytes:
            told = "too many uploads in progress"
            raise Refusal("overloaded", told, retry_after_seconds=1)

    def end(self) -> None:
        """It is whole, or nobody waits for it."""
        self.begun = False
        self._total.arriving_bytes -= self._bytes
        self._bytes = 0

    def is_late(self, now: float, *, waited_for: bool) -> bool:
        """Whether it comes too slowly; not while it is we who do not read it."""
        if not waited_for:
            self._pace.begin(now, self._bytes)
            return False
        return self._pace.is_late(now, self._bytes)


class Departure:
    """What is answered and has not left."""

    def __init__(self, settings: Settings) -> None:
        self._pace = Pace(settings.send_timeout_seconds, settings.min_bytes_per_second)
        #: What was left when it was last looked, and how much less that was than before.
        self.unsent_bytes = 0
        self.moved_bytes = 0

    def is_late(self, now: float, unsent_bytes: int) -> bool:
        """Whether the client takes it too slowly, of which there are ``unsent_bytes`` left."""
        before, self.unsent_bytes = self.unsent_bytes, unsent_bytes
        self.moved_bytes = max(0, before - unsent_bytes)
        if not unsent_bytes:
            return False
        if not before or unsent_bytes > before:
            self._pace.begin(now, -unsent_bytes)
            return False
        return self._pace.is_late(now, -unsent_bytes)
