"""Connections to a service, each kept for the next request.

httpx checks every message with a state machine, which takes most of the time of a short request.
By plain HTTP/1.1 a request is written at once here, and of an answer's framing is read what RFC
9112 allows a server. TLS, proxies and asynchronous clients have httpx's own connections.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

import httpx

from gradwire.environment import Route, route

READ_BYTES = 1 << 18
#: The longest head of an answer, and the longest line of a chunk.
LONGEST_HEAD_BYTES = 100 * 1024
LONGEST_LINE_BYTES = 4096

_STATUS = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})(?: .*)?")
_FIELDS = re.compile(rb"(?:[-!#$%&'*+.^_`|~0-9A-Za-z]+:[^\r\n]*\r\n)*")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})(?:;.*)?")

Headers = list[tuple[bytes, bytes]]


class Head(NamedTuple):
    """The first lines of an answer."""

    status: int
    headers: Headers
    #: Whether the connection may be used again.
    stays: bool


def connections(address: str, limits: httpx.Limits) -> httpx.BaseTransport:
    """The connections to the service at an address, by the environment's proxies and certificates.

    Raises: ``UsageError`` and ``NotInstalled``, which name the variable.
    """
    found = route(address)
    if found == Route(None, None):
        return KeptConnections(limits)
    return httpx.HTTPTransport(verify=_context(found), limits=limits, proxy=found.proxy)


def loop_connections(address: str, limits: httpx.Limits) -> httpx.AsyncBaseTransport:
    """As ``connections``, of an asynchronous client."""
    found = route(address)
    context = _context(found)
    return LoopConnections(
        lambda: httpx.AsyncHTTPTransport(verify=context, limits=limits, proxy=found.proxy)
    )


def _context(found: Route) -> ssl.SSLContext:
    """The authorities of a route; without encryption none are trusted, and none are read."""
    return found.authorities or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class LoopConnections(httpx.AsyncBaseTransport):
    """Connections of each event loop, which alone can use those that it has opened."""

    def __init__(self, open_pool: Callable[[], httpx.AsyncBaseTransport]) -> None:
        self._open_pool: Callable[[], httpx.AsyncBaseTransport] = open_pool
        self._pools: dict[asyncio.AbstractEventLoop, _LoopPool] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request by the running loop's connections."""
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            for ended in [each for each in [*self._pools] if each.is_closed()]:
                del self._pools[ended]
            pool = self._pools[loop] = _LoopPool(self._open_pool())
            await pool.begin()
        return await pool.transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections of the running loop; other loops close theirs by themselves."""
        pools, self._pools = self._pools, {}
        for loop, pool in pools.items():
            if loop is asyncio.get_running_loop():
                await pool.end()
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(pool.end(), loop)


class _LoopPool:
    """The connections of one event loop, which closes them when it ends.

    A loop closes what it runs of asynchronous generators when ``asyncio.run`` ends.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self.transport: httpx.AsyncBaseTransport = transport
        self._life: AsyncGenerator[None, None] = self._until_the_end()

    async def _until_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.transport.aclose()

    async def begin(self) -> None:
        """Let the loop know of them."""
        await anext(self._life)

    async def end(self) -> None:
        """Close them."""
        await self._life.aclose()


class KeptConnections(httpx.BaseTransport):
    """A pool of plain connections. Thread-safe: a request has a connection for itself."""

    def __init__(self, limits: httpx.Limits, clock: Callable[[], float] = monotonic) -> None:
        self._clock: Callable[[], float] = clock
        self._most: int = limits.max_keepalive_connections or 0
        self._seconds: float = limits.keepalive_expiry or 0.0
        #: Idle connections, the last used one last, with the time until which they are used.
        self._idle: dict[tuple[str, int], deque[tuple[_Connection, float]]] = {}
        self._closed: bool = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and read the head of its answer."""
        seconds = request.extensions.get("timeout", {})
        text = _request_head(request)
        origin = request.url.raw_host.decode(), request.url.port or 80
        connection = self._taken(origin) or _Connection(origin, seconds.get("connect"))
        try:
            is_sent = connection.send(text, request, seconds.get("write"))
            head = connection.head(seconds.get("read"))
            pieces = connection.pieces(request.method, head)
        except BaseException:
            connection.close()
            raise
        body = _Body(self, origin, connection, pieces, stays=head.stays and is_sent)
        return httpx.Response(head.status, headers=head.headers, stream=body)

    def keep(self, origin: tuple[str, int], connection: _Connection) -> None:
        """Keep a connection whose answer has been read."""
        idle = self._idle.setdefault(origin, deque())
        if self._closed or len(idle) >= self._most:
            connection.close()
        else:
            idle.append((connection, self._clock() + self._seconds))

    def _taken(self, origin: tuple[str, int]) -> _Connection | None:
        """An idle connection that is still open."""
        idle = self._idle.get(origin)
        while idle:
            try:
                connection, until = idle.pop()
            except IndexError:  # another thread has taken it
                return None
            if self._clock() < until and connection.is_idle():
                return connection
            connection.close()
        return None

    def close(self) -> None:
        """Close the idle connections; others are closed once their answers have been read."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop()[0].close()

    def __del__(self) -> None:
        self.close()  # a copied job has a client that nobody closes


class _Body(httpx.SyncByteStream):
    """The body of an answer. Its connection is kept if all of it is read."""

    def __init__(
        self,
        pool: KeptConnections,
        origin: tuple[str, int],
        connection: _Connection,
        pieces: Iterator[bytes],
        *,
        stays: bool,
    ) -> None:
        self._pool: KeptConnections = pool
        self._origin: tuple[str, int] = origin
        self._connection: _Connection | None = connection
        self._pieces: Iterator[bytes] = pieces
        self._stays: bool = stays

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        connection, self._connection = self._connection, None
        if connection is not None and self._stays:
            self._pool.keep(self._origin, connection)
        elif connection is not None:
            connection.close()

    def close(self) -> None:
        """Close the connection unless all has been read."""
        if self._connection is not None:
            self._connection.close()


class _Connection:
    """One connection, for one request at a time."""

    def __init__(self, origin: tuple[str, int], seconds: float | None) -> None:
        try:
            self._socket: socket.socket = socket.create_connection(origin, seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        #: What has been received and not read.
        self._received: bytes = b""

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def is_idle(self) -> bool:
        """True if the server has neither closed it nor sent anything."""
        self._socket.settimeout(0)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return not self._received
        except OSError:
            return False
        return False

    def send(self, text: bytes, request: httpx.Request, seconds: float | None) -> bool:
        """Send a request, whose head is ``text``; whether the server has taken all of it.

        One that answers early may not: then the answer says why.
        """
        pieces = iter(request.stream)  # type: ignore[arg-type]  # of a synchronous client
        self._socket.settimeout(seconds)
        try:
            self._socket.sendall(text + next(pieces, b""))
            for piece in pieces:
                self._socket.sendall(piece)
        except TimeoutError as error:
            raise httpx.WriteTimeout(str(error)) from error
        except OSError:
            return False
        return True

    def head(self, seconds: float | None) -> Head:
        """The head of the answer; those of interim answers are skipped."""
        self._socket.settimeout(seconds)
        while True:
            text = self._until(b"\r\n\r\n", LONGEST_HEAD_BYTES) + b"\r\n"
            first, _, fields = text.partition(b"\r\n")
            status = _STATUS.fullmatch(first)
            if status is None or _FIELDS.fullmatch(fields) is None:
                raise httpx.RemoteProtocolError(f"illegal head of an answer: {text!r:.200}")
            if not b"100" <= status[2] < b"200" or status[2] == b"101":
                break
        headers = [_header(line) for line in fields.split(b"\r\n")[:-1]]
        options = b",".join([text for name, text in headers if name.lower() == b"connection"])
        ends = status[1] == b"0" or b"close" in re.split(rb"[\s,]+", options.lower())
        return Head(int(status[2]), headers, not ends)

    def pieces(self, method: str, head: Head) -> Iterator[bytes]:
        """The body of the answer, by its framing (RFC 9112, 6.3)."""
        named = {name.lower(): text for name, text in reversed(head.headers)}
        lengths = {text for name, text in head.headers if name.lower() == b"content-length"}
        if method == "HEAD" or head.status in (204, 304):
            return iter(())
        if b"transfer-encoding" in named:
            if named[b"transfer-encoding"].lower() != b"chunked" or lengths:
                raise httpx.RemoteProtocolError("an answer has an unknown transfer encoding")
            return self._chunks()
        if not lengths:
            return self._rest()
        length = lengths.pop()
        if lengths or not length.isdigit() or len(length) > 20:
            raise httpx.RemoteProtocolError("an answer has no valid Content-Length")
        return self._counted(int(length))

    def _counted(self, left: int) -> Iterator[bytes]:
        while left:
            piece = self._received or self._read()
            self._received = piece[left:]
            piece = piece[:left]
            left -= len(piece)
            yield piece

    def _chunks(self) -> Iterator[bytes]:
        while True:
            line = self._until(b"\r\n", LONGEST_LINE_BYTES)
            size = _CHUNK.fullmatch(line)
            if size is None:
                raise httpx.RemoteProtocolError(f"illegal size of a chunk: {line!r:.80}")
            if not int(size[1], 16):
                break
            yield from self._counted(int(size[1], 16))
            if self._until(b"\r\n", LONGEST_LINE_BYTES):
                raise httpx.RemoteProtocolError("a chunk is longer than its size")
        while self._until(b"\r\n", LONGEST_LINE_BYTES):  # trailers
            pass

    def _rest(self) -> Iterator[bytes]:
        """All until the server closes the connection."""
        yield self._received
        with suppress(_Ended):
            while True:
                yield self._read()

    def _until(self, end: bytes, most: int) -> bytes:
        """The bytes received before ``end``, which is dropped."""
        at, start = -1, 0
        while (at := self._received.find(end, start)) < 0:
            if len(self._received) > most:
                raise httpx.RemoteProtocolError("the head of an answer is too long")
            start = max(len(self._received) - len(end) + 1, 0)
            self._received += self._read()
        found, self._received = self._received[:at], self._received[at + len(end) :]
        return found

    def _read(self) -> bytes:
        try:
            read = self._socket.recv(READ_BYTES)
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
        if not read:
            raise _Ended("the server closed the connection before its answer was complete")
        return read


class _Ended(httpx.RemoteProtocolError):
    """The server has closed the connection."""


def _request_head(request: httpx.Request) -> bytes:
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%s: %s" % header for header in request.headers.raw]
    text = b"\r\n".join([*lines, b"", b""])
    if text.count(b"\n") != len(lines) + 1 or text.count(b"\r") != len(lines) + 1 or b"\0" in text:
        raise httpx.LocalProtocolError("a header of the request has a line break in it")
    return text


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, _, text = line.partition(b":")
    return name, text.strip(b" \t")
