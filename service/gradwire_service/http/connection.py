"""A client's connection: its requests are answered in order, and in time."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Scope
from uvicorn import Config
from uvicorn.server import ServerState

from gradwire_service.http.cycle import Cycle
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.http.parser import RequestParser
from gradwire_service.http.rates import BodyRate, WriteRate
from gradwire_service.problems import RequestError

#: Requests that may wait behind the one that is answered: each read may bring thousands.
MAX_PIPELINED = 100
#: Time that a client may go on sending after its last response: to close on unread input resets
#: the connection, and the client may lose the response (RFC 9112, section 9.6).
LINGER_SECONDS = 10.0
_RESET = struct.pack("ii", 1, 0)


class HttpConnection(asyncio.Protocol):
    """A protocol for ``uvicorn.Config(http=...)``.

    What is malformed, too large or too slow is refused by a problem once all requests before it
    are answered; then the connection ends.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limiter: ConnectionLimiter,
    ) -> None:
        self._loop = _loop or asyncio.get_running_loop()
        self._app: ASGIApp = config.loaded_app
        self._server_state: Any = server_state
        self._limiter = limiter
        self._clock = limiter.clock
        settings = self._settings = limiter.settings
        #: The common part of the scopes of all its requests.
        self.address, self.opened_at = "", 0.0
        self._scope: Scope = {
            "type": "http",
            "asgi": {"version": config.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "scheme": "http",
            "root_path": config.root_path,
        }
        self._app_state = app_state
        self._parser = RequestParser(settings, self, self._clock)
        self._active: Cycle | None = None
        self._waiting: deque[Cycle] = deque()
        self._reading_paused = self._closed_for_reading = False
        self.body_rate = BodyRate(limiter)
        self.write_rate = WriteRate(limiter)
        #: Set while the client takes what is written.
        self.writable = asyncio.Event()
        self.writable.set()
        #: Since when it is idle, and how long it may be.
        self._since = self._clock()
        self._idle_seconds = settings.header_timeout_seconds
        self._keep_alive_seconds = config.timeout_keep_alive
        self._lingers = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or refuse where there are too many."""
        self.transport = transport
        for key, name in ("client", "peername"), ("server", "sockname"):
            address = transport.get_extra_info(name)
            self._scope[key] = address[:2] if isinstance(address, tuple) else None
        self.address = (self._scope["client"] or ("",))[0]
        self.opened_at = self._clock()
        self._server_state.connections.add(self)
        self._limiter.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End; what is computed for it is cancelled."""
        self._server_state.connections.discard(self)
        self._limiter.leave(self)
        self._stop_reading()
        self._waiting.clear()
        if self._active is not None:
            self._active.disconnect()
            self._active = None
        self.writable.set()
        self._parser.close()

    def pause_writing(self) -> None:
        """Have responses wait until the client has taken more."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """Have responses go on."""
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._closed_for_reading:
            return
        try:
            self._parser.feed(data)
            if self._parser.cycle is not None:
                self.body_rate.add(self._clock(), len(data))
        except RequestError as refusal:
            self.refuse(refusal)

    def begin(self, head: Scope) -> Cycle:
        """Have a request answered, whose body may follow.

        Raises: ``RequestError`` (overloaded).
        """
        self._limiter.check_place(self, head["path"])
        if len(self._waiting) >= MAX_PIPELINED:
            detail = f"{MAX_PIPELINED} requests wait on this connection, the most allowed"
            raise RequestError("overloaded", detail, retry_after_seconds=1)
        return self._enqueue({**head, "state": self._app_state.copy()}, self._app)

    def refuse(self, refusal: RequestError) -> None:
        """Refuse what was read last, once what came before it is answered."""
        self._stop_reading()
        parser = self._parser
        if parser.cycle is not None:
            parser.cycle.refuse(refusal)
        else:
            head = {"method": parser.method, "headers": parser.headers, "refusal": refusal}
            self._enqueue(head, self._limiter.refused)

    def _enqueue(self, head: Scope, app: ASGIApp) -> Cycle:
        cycle = Cycle(self, app, {**self._scope, **head}, self._server_state.default_headers)
        if self._active is None:
            self._start(cycle)
        else:
            self._waiting.append(cycle)
            self.pause_reading()
        return cycle

    def _start(self, cycle: Cycle) -> None:
        self._active = cycle
        task = self._loop.create_task(cycle.run())
        self._server_state.tasks.add(task)
        task.add_done_callback(self._server_state.tasks.discard)

    def finish(self, cycle: Cycle) -> None:
        """Go on to the next request, or close."""
        self._server_state.total_requests += 1
        self._active = None
        if not cycle.keep_alive:
            self._close()
            return
        if self._waiting:
            self._start(self._waiting.popleft())
        else:
            self._since, self._idle_seconds = self._clock(), self._keep_alive_seconds
        self.resume_reading()

    def _stop_reading(self) -> None:
        self._closed_for_reading = True
        self.body_rate.end()

    def pause_reading(self) -> None:
        """Read no more for now."""
        if not self._reading_paused:
            self._reading_paused = True
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on, unless requests wait."""
        if self._reading_paused and not self._waiting:
            self._reading_paused = False
            self.transport.resume_reading()

    def shutdown(self) -> None:
        """Close after the requests that were read: uvicorn stops."""
        if self._active is None:
            self.transport.close()
        else:
            last = self._waiting[-1] if self._waiting else self._active
            last.keep_alive = False

    def _close(self) -> None:
        """Close, but let a client that is sending read its last response first."""
        self._waiting.clear()
        if self._parser.cycle is None and not self._closed_for_reading:
            self.transport.close()
            return
        self._stop_reading()
        self._lingers, self._since = True, self._clock()
        with suppress(OSError):  # the client has gone, and connection_lost will come
            self.transport.write_eof()
        self.resume_reading()

    @property
    def is_receiving(self) -> bool:
        """True while a request is arriving."""
        return self._parser.cycle is not None or self._parser.head_since is not None

    @property
    def is_reserved(self) -> bool:
        """True if the connection is one beyond the most."""
        return self._limiter.is_reserved(self)

    @property
    def idle_since(self) -> float | None:
        """Since when it waits for a request; None while it has one, or is about to end."""
        parser = self._parser
        in_use = self._active or parser.cycle or parser.head_since or self._closed_for_reading
        return None if in_use else self._since

    def cut(self) -> None:
        """Close at once; the kernel drops what it has not sent."""
        opened = self.transport.get_extra_info("socket")
        if opened is not None:
            with suppress(OSError):  # it is closed already
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def check(self, now: float) -> None:
        """Check whether the client is late."""
        parser, unsent_bytes = self._parser, self.transport.get_write_buffer_size()
        if self._active is not None:
            unsent_bytes += self._active.unwritten_bytes
        if self.write_rate.is_late(now, unsent_bytes):
            self.cut()
        elif self._lingers:
            if now >= self._since + LINGER_SECONDS and not unsent_bytes:
                self.transport.abort()
        elif self._closed_for_reading:
            pass
        elif parser.cycle is not None:
            awaited = not (self._reading_paused or parser.cycle.expects_continue)
            if self.body_rate.is_late(now, awaited=awaited):
                self.refuse(RequestError("request_timeout", "the body came too slowly"))
        elif parser.head_since is not None:
            if self._reading_paused:
                parser.head_since = now
            elif now >= parser.head_since + self._settings.header_timeout_seconds:
                self.refuse(RequestError("request_timeout", "the headers came too slowly"))
        elif self._active is None and now >= self._since + self._idle_seconds:
            self.transport.close()
