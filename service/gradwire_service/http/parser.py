"""The requests of a connection: httptools parses them, within limits on their sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httptools

from gradwire_service.http.cycle import Cycle
from gradwire_service.http.heads import (
    check_headers,
    expects_continue,
    framing_of,
    malformed,
    read_target,
)
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.wire.headers import headers_of
from gradwire_service.wire.security_headers import Header

if TYPE_CHECKING:
    from gradwire_service.http.connection import HttpConnection

_TLS = b"\x16\x03"


class RequestParser:
    """Begins a ``Cycle`` for each request, and gives it its body."""

    def __init__(
        self, settings: Settings, connection: HttpConnection, clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._clock = clock
        self._parser = httptools.HttpRequestParser(self)
        #: Of a request that asks for another protocol: the header that says where its body ends.
        self._upgrade_framing = b""
        self._target = b""
        #: Bytes since the last head, piece of a body or end of one: the parser may keep them all.
        self._unparsed_bytes = 0
        #: Since when a head is arriving, and what is known of it.
        self.head_since: float | None = None
        self.method = ""
        self.headers: list[Header] = []
        #: The request whose body is arriving.
        self.cycle: Cycle | None = None

    def feed(self, data: bytes) -> None:
        """Parse what was read.

        Raises: ``RequestError`` (malformed_request, headers_too_large, target_too_long, overloaded,
        expectation_failed).
        """
        self._unparsed_bytes += len(data)
        rest: bytes | memoryview = data
        try:
            while rest:
                try:
                    self._parser.feed_data(rest)
                    break
                except httptools.HttpParserUpgrade as upgrade:
                    # To a protocol that is not spoken here, so HTTP goes on (RFC 9110, 7.8).
                    rest = memoryview(rest)[upgrade.args[0] :]
                    if self._upgrade_framing:
                        self._parse_body()
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, RequestError):
                raise error.__context__ from None
            raise
        except httptools.HttpParserError as error:
            if data.startswith(_TLS):
                hint = "use http://, or the proxy's https://"
                raise malformed("this port speaks HTTP, not TLS", hint) from None
            raise malformed(f"the request is not HTTP/1.1: {error}") from None
        if self._unparsed_bytes > self._settings.max_head_bytes:
            raise self._too_large()

    def _parse_body(self) -> None:
        """Parse a body that ``httptools`` takes for the other protocol: of a request without it.

        Java's client asks for HTTP/2 in every request over plain HTTP.
        """
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n\r\n" % self._upgrade_framing)
        self._upgrade_framing = b""

    def close(self) -> None:
        """Drop what refers to this in turn."""
        del self._parser, self._connection
        self.cycle = None

    def on_message_begin(self) -> None:
        """A request begins."""
        if self._upgrade_framing:
            return
        self.head_since = self._clock()
        self._target, self.method, self.headers = b"", "", []

    def on_url(self, url: bytes) -> None:
        """The target, or a part of it."""
        if self._upgrade_framing:
            return
        self._target += url
        most = self._settings.max_target_bytes
        if len(self._target) > most:
            detail = f"the path and its query may have at most {most} bytes"
            raise RequestError("target_too_long", detail)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer; those are ignored, since they could pass for headers."""
        if self.cycle is None:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """A head is complete."""
        if self._upgrade_framing:
            return
        settings, headers, parser = self._settings, self.headers, self._parser
        method = self.method = parser.get_method().decode("ascii")
        version = parser.get_http_version()
        if (
            len(headers) > settings.max_headers
            or sum([len(name) + len(value) for name, value in headers]) > settings.max_head_bytes
        ):
            raise self._too_large()
        scope: dict[str, Any] = {"method": method, "http_version": version, "headers": headers}
        named = headers_of(scope)
        check_headers(version, named, headers)
        path, raw_path, query = read_target(method, self._target)
        scope |= {"path": path, "raw_path": raw_path, "query_string": query}
        cycle = self.cycle = self._connection.begin(scope)
        keeps = version == "1.1" and parser.should_keep_alive()
        cycle.keep_alive = keeps and not self._connection.is_reserved
        cycle.expects_continue = expects_continue(version, named)
        self.head_since = None
        self._unparsed_bytes = 0
        if parser.should_upgrade():
            self._upgrade_framing = framing_of(named)

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        assert self.cycle is not None
        self._unparsed_bytes = 0
        self.cycle.add(body)

    def on_message_complete(self) -> None:
        """A request is complete, or the head of one that asks for another protocol."""
        if self._upgrade_framing:
            return
        assert self.cycle is not None
        self._unparsed_bytes = 0
        self.cycle.complete_body()
        self.cycle = None
        self._connection.body_rate.end()

    def _too_large(self) -> RequestError:
        most, number = self._settings.max_head_bytes, self._settings.max_headers
        if self.cycle is not None:
            return malformed(f"trailers and extensions of chunks may have at most {most} bytes")
        detail = f"a request may have at most {number} headers, of {most} bytes in all"
        return RequestError("headers_too_large", detail)
