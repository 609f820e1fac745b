"""Responses compressed as ``Accept-Encoding`` prefers, whatever route they come from."""

from __future__ import annotations

from functools import lru_cache

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.capacity import Capacity, Deadline
from gradwire_service.problems import Refusal
from gradwire_service.wire.compression import Coding, preferred

#: Smaller bodies fit into one packet as they are.
LEAST_BYTES = 1024
#: Up to here compressing takes less than a millisecond; larger bodies are given to a thread.
INLINE_BYTES = 1 << 16
_DEADLINE_MS = 10_000

_preferred = lru_cache(maxsize=256)(preferred)


class Compressing:
    """Around an application: what it answers, compressed for those who ask."""

    def __init__(self, app: ASGIApp, capacity: Capacity) -> None:
        self._app = app
        self._capacity = capacity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        coding = None
        if scope["type"] == "http" and scope["method"] != "HEAD":
            for name, value in scope["headers"]:
                if name == b"accept-encoding":
                    coding = _preferred(value.decode("latin-1"))
        if coding is not None:
            send = _Compressed(coding, self._capacity, send)
        await self._app(scope, receive, send)


class _Compressed:
    """A ``send`` that holds a response back until it is whole."""

    def __init__(self, coding: Coding, capacity: Capacity, send: Send) -> None:
        self._coding = coding
        self._capacity = capacity
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _worth_it(dict(message["headers"])):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_whole(self._start)

    async def _send_whole(self, start: Message) -> None:
        body = await self._compressed()
        headers = [(b"vary", b"accept-encoding")]
        if body is not self._body:
            headers.append((b"content-encoding", self._coding.name.encode()))
        for name, value in start["headers"]:
            if name == b"content-length":
                headers.append((name, str(len(body)).encode()))
            elif name == b"etag" and not value.startswith(b"W/"):
                headers.append((name, b"W/" + value))  # the same document in other bytes
            else:
                headers.append((name, value))
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def _compressed(self) -> bytes | bytearray:
        """The body compressed; as it is, where there is too much to do for that."""
        body, compress = self._body, self._coding.compress
        if len(body) <= INLINE_BYTES:
            return compress(body)
        try:
            return await self._capacity.run(
                lambda: compress(body), Deadline(_DEADLINE_MS), len(body)
            )
        except Refusal:
            return body


def _worth_it(headers: dict[bytes, bytes]) -> bool:
    """Whether a response is long enough, and not an image or compressed already."""
    length = headers.get(b"content-length", b"0")
    packed = b"content-encoding" in headers or headers.get(b"content-type") == b"image/png"
    return int(length) >= LEAST_BYTES and not packed
