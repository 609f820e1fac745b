"""One request and its response, as ASGI gives them to the application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Scope

from gradwire_service.problems import RequestError
from gradwire_service.wire.security_headers import Header
from gradwire_service.wire.shared import Body

if TYPE_CHECKING:
    from gradwire_service.http.connection import HttpConnection

logger = logging.getLogger("gradwire")

#: Once so much of a body waits for the application, no more is read.
_BUFFER_BYTES = 1 << 16
#: Smaller pieces are copied behind their head, which costs less than to write two.
_LARGE_BYTES = 1 << 14
_STATUS_LINES = {
    status.value: b"HTTP/1.1 %d %s" % (status, status.phrase.encode()) for status in HTTPStatus
}
#: All that a line of a head may contain.
_TEXT = bytes({*range(256)} - {*range(32), 127} | {ord("\t")})
_BODILESS = (204, 304)
_CLOSE = (b"connection", b"close")


class Cycle:
    """A request, whose body may still be arriving, and its response.

    The head of a response is written with the first piece of its body. ASGI gives a server the head
    before there is a body; to write it at once takes two system calls for a small response, and for
    its client often two wake-ups.
    """

    def __init__(
        self, connection: HttpConnection, app: ASGIApp, scope: Scope, headers: Sequence[Header]
    ) -> None:
        self._connection = connection
        self._transport = connection.transport
        self._app = app
        self._scope = scope
        #: The server's own, of every response.
        self._headers = headers
        #: Whether another request may follow.
        self.keep_alive = False
        #: Whether the client waits for ``100 Continue`` before it sends the body.
        self.expects_continue = False
        #: Whether the body is incomplete.
        self.receiving = True
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._refusal: RequestError | None = None
        self._disconnected = False
        self._news = asyncio.Event()
        self._start: Message | None = None
        self._started = self._complete = self._bodiless = False
        self._left: int | None = None

    @property
    def unwritten_bytes(self) -> int:
        """The rest of a response that has begun: the application has it, and waits for room."""
        return self._left or 0

    async def run(self) -> None:
        """Have the application answer."""
        try:
            await self._app(self._scope, self.receive, self.send)
        except Exception as error:
            logger.error("the application failed", exc_info=error)
        finally:
            if not self._complete:
                self._transport.close()

    def add(self, body: bytes) -> None:
        """Take a piece of the body."""
        if not self._complete:
            self._body.append(body)
            self._body_bytes += len(body)
            if self._body_bytes > _BUFFER_BYTES:
                self._connection.pause_reading()
            self._news.set()

    def complete_body(self) -> None:
        """End the body."""
        self.receiving = False
        self._news.set()

    def refuse(self, refusal: RequestError) -> None:
        """Report to the application why the rest of the body does not come."""
        self._refusal = refusal
        self._news.set()

    def disconnect(self) -> None:
        """Report to the application that the client has disconnected."""
        self._disconnected = True
        self._news.set()

    async def receive(self) -> Message:
        """The next part of the request, as ASGI has it.

        Raises: ``RequestError`` of a body that is malformed, too slow or too much.
        """
        if self.expects_continue and self._start is None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.expects_continue = False
        await self._news.wait()
        if self._disconnected or self._complete:
            return {"type": "http.disconnect"}
        if self._refusal is not None:
            raise self._refusal
        self._news.clear()
        body = b"".join(self._body)
        self._body.clear()
        self._body_bytes = 0
        self._connection.resume_reading()
        return {"type": "http.request", "body": body, "more_body": self.receiving}

    async def send(self, message: Message) -> None:
        """Write the next part of the response, as ASGI has it."""
        if not self._connection.writable.is_set():
            await self._connection.writable.wait()
        if self._disconnected:
            return
        kind = message["type"]
        if kind == "http.response.start" and self._start is None:
            self._start = message
            if self.receiving:
                self.keep_alive = False  # the rest of the body must not be read as a request
        elif kind == "http.response.body" and self._start is not None and not self._complete:
            last = not message.get("more_body")
            self._write(self._start, message.get("body", b""), last=last)
        else:
            raise RuntimeError(f"{kind} out of order")

    def _write(self, start: Message, piece: Body, *, last: bool) -> None:
        pieces: list[Body] = []
        if not self._started:
            self._started = True
            pieces.append(self._head(start, len(piece) if last else None))
        if not self._bodiless:
            pieces.append(piece)
            if self._left is not None:
                self._left -= len(piece)
                if self._left < 0 or (last and self._left):
                    raise RuntimeError("the response is not as long as it says")
        if len(piece) < _LARGE_BYTES:
            self._transport.write(b"".join(pieces))
        else:
            self._transport.writelines(pieces)
        if last:
            self._complete = True
            self._news.set()
            self._connection.finish(self)

    def _head(self, start: Message, length: int | None) -> bytes:
        """The head of a response; without a length the response ends with its connection."""
        status = start["status"]
        headers = [*self._headers, *start.get("headers", ())]
        self._bodiless = status in _BODILESS or self._scope["method"] == "HEAD"
        if not self._bodiless:
            for name, value in headers:
                if name == b"content-length":
                    self._left = int(value)
                    break
            else:
                if length is None:
                    self.keep_alive = False
                else:
                    headers.append((b"content-length", b"%d" % length))
        if not self.keep_alive:
            headers.append(_CLOSE)
        lines = [_STATUS_LINES[status], *map(b": ".join, headers), b"", b""]
        head = b"\r\n".join(lines)
        if len(head.translate(None, _TEXT)) != 2 * len(lines) - 2:
            raise RuntimeError("a header of the response breaks its line")
        return head
