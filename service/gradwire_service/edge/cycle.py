"""One request and its response, as they go over a connection."""

from __future__ import annotations

from typing import Any

from starlette.types import Message
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from gradwire_service.wire.shared import Body

#: Smaller pieces are copied behind their head, which takes less than to write two.
_LARGE_BYTES = 1 << 14
#: Whatever a line of a head may hold.
_TEXT = bytes({*range(256)} - {*range(32), 127} | {ord("\t")})
_BODILESS = (204, 304)
_CHUNKED = (b"transfer-encoding", b"chunked")
_CLOSING = (b"connection", b"close")


class Cycle(RequestResponseCycle):
    """uvicorn's, but for how it writes: the head of a response goes with its body's first piece.

    ASGI gives a server the head before there is a body. To write it at once takes two system calls
    for a small response, and for its client often two awakenings.
    """

    _head: bytes | None = None
    _left: int | None = None
    _silent = False

    @property
    def unwritten_bytes(self) -> int:
        """What the application holds of a response that has begun."""
        return (self._left or 0) if self.response_started and not self._silent else 0

    async def send(self, message: Any) -> None:
        """Write the next part of the response, as ASGI has it."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if self.response_complete:
            raise RuntimeError(f"{kind} after the end of the response")
        if not self.response_started:
            if kind != "http.response.start":
                raise RuntimeError(f"{kind} before the start of the response")
            self._begin(message)
        elif kind != "http.response.body":
            raise RuntimeError(f"{kind} within the response")
        else:
            self._go_on(message.get("body", b""), last=not message.get("more_body"))

    async def send_500_response(self) -> None:
        """Close: what fails outside of ``RequestMiddleware`` has nothing to tell."""
        self.transport.close()

    def _begin(self, start: Message) -> None:
        status = start["status"]
        self._silent = status in _BODILESS or self.scope["method"] == "HEAD"
        chunked = not self._silent and self.scope["http_version"] == "1.1"
        if self.more_body:
            self.keep_alive = False  # what nobody reads is no next request either
        headers = [*self.default_headers, *start.get("headers", ())]
        for name, value in headers:
            if name == b"content-length":
                self._left = int(value)
                chunked = False
            elif name == b"connection" and value.lower() == b"close":
                self.keep_alive = False
        if chunked:
            headers.append(_CHUNKED)
        if not self.keep_alive:
            headers = [header for header in headers if header[0] != b"connection"]
            headers.append(_CLOSING)
        lines = [STATUS_LINE[status][:-2], *map(b": ".join, headers), b"", b""]
        head = b"\r\n".join(lines)
        if len(head.translate(None, _TEXT)) != 2 * len(lines) - 2:
            raise RuntimeError("a header of the response breaks its line")
        self._head = head
        self.chunked_encoding = chunked
        self.response_started = True
        self.waiting_for_100_continue = False

    def _go_on(self, piece: Body, *, last: bool) -> None:
        pieces: tuple[Body, ...] = ()
        if self._silent:
            pass
        elif self.chunked_encoding:
            pieces = (b"%x\r\n" % len(piece), piece, b"\r\n") if piece else ()
            pieces += (b"0\r\n\r\n",) if last else ()
        else:
            if self._left is not None:
                self._left -= len(piece)
                if self._left < 0 or (last and self._left):
                    raise RuntimeError("the response is not as long as it says")
            pieces = (piece,) if piece else ()
        if self._head is not None:
            pieces = (self._head, *pieces)
            self._head = None
        if len(pieces) == 1:
            self.transport.write(pieces[0])
        elif len(piece) < _LARGE_BYTES:
            self.transport.write(b"".join(pieces))  # nothing, where there is nothing to write
        else:
            self.transport.writelines(pieces)
        if last:
            self.response_complete = True
            self.message_event.set()
            self.on_response()
