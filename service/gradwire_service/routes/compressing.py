"""Responses compressed as ``Accept-Encoding`` prefers, whatever route they come from."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import lru_cache

from gradwire_engine.errors import DeadlineExceeded
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.capacity import Deadline, Queue
from gradwire_service.problems import Refusal
from gradwire_service.routes.exchange import Header, owner_of
from gradwire_service.wire.body import Body
from gradwire_service.wire.compression import Coding, preferred
from gradwire_service.wire.headers import MOST_BYTES, headers_of

#: Smaller bodies fit into one packet as they are.
LEAST_BYTES = 1024
#: Up to here compressing takes less than a millisecond; larger bodies are given to a thread.
INLINE_BYTES = 1 << 16
_DEADLINE_MS = 10_000
#: Of larger bodies so much is tried first, and what keeps more than this part is left alone:
#: numbers' bytes keep nearly all, their digits half.
_SAMPLE_BYTES = 1 << 13
_MOST_KEPT = 0.8

_VARY = (b"vary", b"accept-encoding")
_preferred = lru_cache(maxsize=256)(preferred)


class Compressing:
    """Around an application: what it answers, compressed for those who ask."""

    def __init__(self, app: ASGIApp, threads: Queue) -> None:
        self._app = app
        self._threads = threads

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        coding = None
        if scope["type"] == "http" and scope["method"] != "HEAD":
            coding = coding_of(scope)
        if coding is not None:
            send = _Compressed(coding, self._threads, scope, send)
        return self._app(scope, receive, send)


def coding_of(scope: Scope) -> Coding | None:
    """How a client prefers its answer compressed, if at all."""
    accepted = headers_of(scope).get(b"accept-encoding")
    return _preferred(accepted[:MOST_BYTES].decode("latin-1")) if accepted else None


class _Compressed:
    """A ``send`` that holds a response back until it is whole."""

    def __init__(self, coding: Coding, threads: Queue, scope: Scope, send: Send) -> None:
        self._coding = coding
        self._threads = threads
        self._scope = scope
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
        compressed = await self._compressed()
        if compressed is None:
            headers, pieces = [*start["headers"], _VARY], self._pieces
        else:
            coded = (b"content-encoding", self._coding.name.encode())
            recoded = [_recoded(header, len(compressed)) for header in start["headers"]]
            headers, pieces = [*recoded, _VARY, coded], [compressed]
        await self._send({**start, "headers": headers})
        for number, piece in enumerate(pieces, 1):
            more = number < len(pieces)
            await self._send({"type": "http.response.body", "body": piece, "more_body": more})

    async def _compressed(self) -> bytes | None:
        """The body compressed; none where that is not worth it, or there is no thread for it."""
        pieces, compress = self._pieces, self._coding.compress
        length = sum(map(len, pieces))
        if length <= INLINE_BYTES:
            return compress(b"".join(pieces))
        largest = max(pieces, key=len)
        sample = largest[len(largest) // 2 :][:_SAMPLE_BYTES]
        if len(compress(sample)) > _MOST_KEPT * len(sample):
            return None
        try:
            return await self._threads.run(
                lambda: compress(b"".join(pieces)),
                Deadline(_DEADLINE_MS),
                length,
                owner=owner_of(self._scope),
            )
        except (Refusal, DeadlineExceeded):
            return None


def _recoded(header: Header, length: int) -> Header:
    """A header as it is of the same document in other bytes, ``length`` of them."""
    name, value = header
    if name == b"content-length":
        return name, b"%d" % length
    if name == b"etag" and not value.startswith(b"W/"):
        return name, b"W/" + value
    return header


def _worth_it(headers: dict[bytes, bytes]) -> bool:
    """Whether a response is long enough, and not an image or compressed already."""
    length = headers.get(b"content-length", b"0")
    packed = b"content-encoding" in headers or headers.get(b"content-type") == b"image/png"
    return int(length) >= LEAST_BYTES and not packed
