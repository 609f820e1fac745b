"""Short responses compressed as ``Accept-Encoding`` prefers, whatever route they come from.

Long ones are compressed where they are made.
"""

from __future__ import annotations

from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.wire.compression import Coding
from gradwire_service.wire.headers import headers_of
from gradwire_service.wire.shared import LARGE_BYTES, Body
from gradwire_service.work.compression import LEAST_BYTES, VARY, coding_of
from gradwire_service.work.request import Header


class Compressing:
    """Around an application: what it answers, compressed for those who ask."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        coding = None
        if scope["type"] == "http" and scope["method"] != "HEAD":
            coding = coding_of(headers_of(scope).get(b"accept-encoding", b""))
        if coding is not None:
            send = _Compressed(coding, send)
        return self._app(scope, receive, send)


class _Compressed:
    """A ``send`` that holds a response back until it is whole."""

    def __init__(self, coding: Coding, send: Send) -> None:
        self._coding = coding
        self._send = send
        self._start: Message | None = None
        self._pieces: list[Body] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _worth_it(dict(message["headers"])):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._pieces.append(message.get("body", b""))
            if not message.get("more_body"):
                await self._send_whole(self._start)

    async def _send_whole(self, start: Message) -> None:
        """Less than a millisecond for what is so short."""
        body = self._coding.compress(b"".join(self._pieces))
        coded = (b"content-encoding", self._coding.name.encode())
        recoded = [_recoded(header, len(body)) for header in start["headers"]]
        await self._send({**start, "headers": [*recoded, VARY, coded]})
        await self._send({"type": "http.response.body", "body": body})


def _recoded(header: Header, length: int) -> Header:
    """A header as it is of the same document in other bytes, ``length`` of them."""
    name, value = header
    if name == b"content-length":
        return name, b"%d" % length
    if name == b"etag" and not value.startswith(b"W/"):
        return name, b"W/" + value
    return header


def _worth_it(headers: dict[bytes, bytes]) -> bool:
    """Whether a response is neither too short nor long, and not an image or compressed already."""
    length = int(headers.get(b"content-length", b"0"))
    packed = b"content-encoding" in headers or headers.get(b"content-type") == b"image/png"
    return LEAST_BYTES <= length <= LARGE_BYTES and not packed
