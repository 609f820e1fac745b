"""A connection: what is read from it, the responses in their order, and how it ends."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any, cast

from gradwire_service.edge.cycle import Cycle
from gradwire_service.edge.reading import Owed, Reading
from gradwire_service.edge.transfers import Departure
from gradwire_service.problems import Refusal

#: How long after it sent something, how long and for how many bytes in all a client that was told
#: the last is listened to: to close on what was not read would take the answer from it (RFC 9112,
#: section 9.6).
LINGER_SECONDS = 5.0
MOST_LINGER_SECONDS = 30.0
LINGER_BYTES = 1 << 27
#: Connections beyond the most that are told so; others are cut.
MOST_TOLD = 64
_NO_LINGER = struct.pack("ii", 1, 0)


class Connection(Reading):
    """A client's connection, on which it has its time, too.

    What cannot be given to the application, since it is no request, comes too slowly or is too
    much, is refused by a problem when all before it is answered; then the connection ends.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.departure = Departure(self._settings)
        self._active: Cycle | None = None
        self._refusal: bytes | None = None
        self._ignored_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or refuse to where there are too many."""
        super().connection_made(transport)
        gate, most = self._gate, self._settings.max_connections
        gate.enter(self, self.loop)
        if gate.has_place(self, self.loop.time()):
            return
        if len(gate) > most + MOST_TOLD:
            self.cut()
        else:
            told = f"all {most} connections are in use"
            self.refuse(Refusal("overloaded", told, retry_after_seconds=1))

    def connection_lost(self, exc: Exception | None) -> None:
        """End; whatever is computed for it goes to nobody."""
        self._gate.leave(self)
        self._arrival.end()
        self.pipeline.clear()
        if self._active is not None:
            self._active.disconnected = True
            self._active.message_event.set()
        super().connection_lost(exc)

    def ignore(self, data: bytes) -> None:
        """Leave what comes after the last request unread; within bounds, when it was answered."""
        if self._owed is Owed.CLOSE:
            self._ignored_bytes += len(data)
            longest = self._since + MOST_LINGER_SECONDS
            self._until = min(self.loop.time() + LINGER_SECONDS, longest)
            if self._ignored_bytes > LINGER_BYTES:
                self.cut()

    def take(self, cycle: Cycle) -> None:
        """To the application with a request, or into the line behind those before it."""
        if self._busy:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))
        else:
            self._start(cycle)

    @property
    def _busy(self) -> bool:
        active = self._active
        return not (active is None or active.response_complete or active.disconnected)

    def _start(self, cycle: Cycle) -> None:
        self._active = cycle
        self._start_asgi_task(cycle, self.app)

    def on_response_complete(self) -> None:
        """A response is written: on to the next request, if there may be one."""
        self.server_state.total_requests += 1
        done = self._active
        if done is None or self.transport.is_closing():
            return
        if not done.keep_alive:
            if done.more_body:
                self._part()
            else:
                self.transport.close()
        elif self.pipeline:
            self._start(cast(Cycle, self.pipeline.pop()[0]))
            self.flow.resume_reading()
        elif self._refusal is not None:
            self._part()
        else:
            self.flow.resume_reading()
            if self._owed is Owed.NOTHING:
                self._owe(Owed.REQUEST, self.config.timeout_keep_alive)

    def refuse(self, refusal: Refusal) -> None:
        """Refuse what was read last, once what came before it is answered, and nothing after it."""
        self._deaf = True
        self._arrival.end()
        if not self._in_head:
            if self.cycle is not self._active:
                self.pipeline.popleft()
            elif self.cycle.response_started:
                self.transport.close()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        known = self._head_begun or not self._in_head
        seconds = self.loop.time() - self._since
        self._owed = Owed.NOTHING
        scope: Any = self.scope if known else {"client": self.client}
        dated = self.server_state.default_headers
        self._refusal = self._gate.refusal(refusal, scope, seconds, dated)
        if not self._busy:
            self._part()

    def _part(self) -> None:
        """Say the last, and listen until the client has heard it."""
        self._deaf = True
        self._arrival.end()
        if self._refusal is not None:
            self.transport.write(self._refusal)
            self._refusal = None
        self._owe(Owed.CLOSE, LINGER_SECONDS)
        if self.transport.can_write_eof():
            with suppress(OSError):  # the client has gone, which is about to be read
                self.transport.write_eof()
            self.flow.resume_reading()
        else:
            self.transport.close()

    @property
    def idle_since(self) -> float | None:
        """Since when it waits for a request, if it does."""
        return self._since if self._owed is Owed.REQUEST else None

    def end(self) -> None:
        """End it, as idle connections may end at any time."""
        self._owed = Owed.CLOSE
        self._deaf = True
        self.transport.close()

    def cut(self) -> None:
        """End at once; the kernel is to send no more either of what was written."""
        opened = self.transport.get_extra_info("socket")
        if opened is not None:
            with suppress(OSError):  # it is closed already
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.transport.abort()

    def look(self, now: float) -> None:
        """Look whether the client is late."""
        unsent = self.transport.get_write_buffer_size()
        if self._active is not None:
            unsent += self._active.unwritten_bytes
        if self.departure.is_late(now, unsent):
            self.cut()
        elif self._owed is Owed.BODY:
            paused = self.flow.read_paused or self.cycle.waiting_for_100_continue
            if self._arrival.is_late(now, waited_for=not paused):
                self.refuse(Refusal("request_timeout", "the body came too slowly"))
        elif self._owed is not Owed.NOTHING and now >= self._until:
            self._be_late(now)

    def _be_late(self, now: float) -> None:
        if self._owed is Owed.HEAD:
            if self.flow.read_paused:
                self._until = now + self._settings.header_timeout_seconds
            else:
                self.refuse(Refusal("request_timeout", "the headers came too slowly"))
        elif not self.transport.get_write_buffer_size():
            self.transport.close()
