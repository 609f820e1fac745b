"""The side of a connection that reads: requests as they may come, and no more of them."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from enum import Enum, auto
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gradwire_service.edge.cycle import Cycle
from gradwire_service.edge.gate import Gate
from gradwire_service.edge.heads import check_headers, malformed, read_target, waits_to_go_on
from gradwire_service.edge.transfers import Arrival
from gradwire_service.problems import Refusal
from gradwire_service.wire.headers import headers_of

logger = logging.getLogger("gradwire")

#: Requests that may wait behind the one that is answered.
MOST_PIPELINED = 100
_TLS = b"\x16\x03"


class Owed(Enum):
    """What the client has to do next."""

    NOTHING = auto()
    REQUEST = auto()
    HEAD = auto()
    BODY = auto()
    CLOSE = auto()


class Reading(HttpToolsProtocol, ABC):
    """uvicorn's protocol, with bounds on all that a client may send."""

    cycle: Cycle

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        gate: Gate,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._gate = gate
        self._settings = gate.settings
        self._owe(Owed.REQUEST, gate.settings.header_timeout_seconds)
        self._deaf = False
        # Of the head that arrives; ``_read_bytes`` of what was read last may be part of it.
        self._in_head = True
        self._head_begun = False
        self._head_bytes = 0
        self._read_bytes = 0
        self._body_bytes = 0
        self._arrival = Arrival(gate.settings, gate)

    @abstractmethod
    def take(self, cycle: Cycle) -> None:
        """Have a request answered whose head is whole."""

    @abstractmethod
    def refuse(self, refusal: Refusal) -> None:
        """Refuse what was read last, and read no more."""

    @abstractmethod
    def ignore(self, data: bytes) -> None:
        """Leave what comes after the last request unread."""

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._deaf:
            self.ignore(data)
            return
        self._read_bytes = len(data)
        try:
            rest = self._parse(data)
            while rest is not None:
                rest = self._parse(rest)
            if not self._in_head:
                self._arrival.see(self.loop.time(), self._body_bytes, self._read_bytes)
            elif self._head_begun:
                self._see_head()
        except Refusal as refusal:
            self.refuse(refusal)
        except httptools.HttpParserError as error:
            self.refuse(_refusal_of(error, data))

    def _parse(self, data: bytes | memoryview) -> memoryview | None:
        """Parse; gives what is left behind a request for another protocol.

        None is spoken here, so this one goes on (RFC 9110, section 7.8).
        """
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return memoryview(data)[upgrade.args[0] :]
        return None

    def _see_head(self) -> None:
        """A head is here in part: the parser keeps it, however long it becomes."""
        self._head_bytes += self._read_bytes
        if self._head_bytes > self._settings.max_head_bytes:
            raise self._head_too_large()
        if self._owed is not Owed.HEAD:
            self._owe(Owed.HEAD, self._settings.header_timeout_seconds)

    def _owe(self, owed: Owed, seconds: float) -> None:
        self._owed = owed
        self._since = self.loop.time()
        self._until = self._since + seconds

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._head_begun = True

    def on_url(self, url: bytes) -> None:
        """The target, or a part of it."""
        self.url += url
        most = self._settings.max_target_bytes
        if len(self.url) > most:
            raise Refusal(
                "target_too_long", f"the path and its query may have at most {most} bytes"
            )

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; those behind a body are nobody's."""
        if self._in_head:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """A head is whole."""
        settings, lines, parser = self._settings, self.headers, self.parser
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        method = scope["method"] = parser.get_method().decode("ascii")
        if len(lines) > settings.max_headers or (
            # Else all of it came in fewer bytes.
            self._head_bytes + self._read_bytes > settings.max_head_bytes
            and sum(len(name) + len(value) for name, value in lines) > settings.max_head_bytes
        ):
            raise self._head_too_large()
        version = scope["http_version"] = parser.get_http_version()
        named = headers_of(scope)
        check_headers(version, named, lines)
        scope["path"], scope["raw_path"], scope["query_string"] = read_target(method, self.url)
        if len(self.pipeline) >= MOST_PIPELINED:
            told = f"{MOST_PIPELINED} requests wait on this connection, as many as may"
            raise Refusal("overloaded", told, retry_after_seconds=1)
        self.cycle = Cycle(
            scope,  # type: ignore[arg-type]
            self.transport,
            self.flow,
            self.logger,
            self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=b"expect" in named and waits_to_go_on(version, named),
            keep_alive=version == "1.1" and parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        self._in_head = self._head_begun = False
        self._head_bytes = self._read_bytes = self._body_bytes = 0
        self._owed = Owed.BODY
        self.take(self.cycle)

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._body_bytes += len(body)
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.body += body
            if len(cycle.body) > HIGH_WATER_LIMIT:
                self.flow.pause_reading()
            cycle.message_event.set()

    def on_message_complete(self) -> None:
        """A request is whole."""
        self._in_head = True
        self._read_bytes = 0
        self._owed = Owed.NOTHING
        if self._arrival.begun:
            self._arrival.end()
        self.cycle.more_body = False
        self.cycle.message_event.set()

    def _head_too_large(self) -> Refusal:
        most, number = self._settings.max_head_bytes, self._settings.max_headers
        told = f"a request has at most {number} headers here, of {most} bytes in all"
        return Refusal("headers_too_large", told)


def _refusal_of(error: httptools.HttpParserError, data: bytes) -> Refusal:
    cause = error.__context__ if isinstance(error, httptools.HttpParserCallbackError) else None
    if isinstance(cause, Refusal):
        return cause
    if cause is not None:
        logger.error("a request could not be read", exc_info=cause)
        return Refusal("internal_error", "the service failed while it read this request")
    if data.startswith(_TLS):
        return malformed("this port speaks HTTP, not TLS", "ask for http://, or through the proxy")
    return malformed(f"the request is not HTTP/1.1: {error}")
