"""One request and its response, whatever it asks: format, body, deadline, durations, pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from time import perf_counter
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gradwire_service.access.admission import caller_of
from gradwire_service.capacity import Capacity, Deadline, Queue
from gradwire_service.settings import Settings
from gradwire_service.telemetry import account_of, server_timing
from gradwire_service.wire.body import Body, Disconnected, read_body
from gradwire_service.wire.codec import DOCUMENTS, Encoding, Offer, negotiated
from gradwire_service.wire.envelope import read_timeout, timeout_of_header
from gradwire_service.wire.headers import headers_of

#: The phases, by which durations are told.
PARSE, COMPILE, REPLAY, ENCODE = range(4)
Header = tuple[bytes, bytes]
Result = TypeVar("Result")
_ESSENTIAL = (b"content-type", b"accept", b"gradwire-timeout-ms")
#: Whose is all that comes without a key.
_NOBODY = sha256(b"").hexdigest()


class Exchange:
    """A request as it is read, and what its response is made of."""

    #: The codecs that are offered.
    offer: Offer = DOCUMENTS

    def __init__(self, scope: Scope, settings: Settings) -> None:
        self._header = header = headers_of(scope).get
        self.format = negotiated(
            header(b"content-type", b""),
            header(b"content-encoding", b""),
            header(b"accept", b""),
            self.offer,
        )
        self._most_ms: float = settings.max_timeout_ms
        given = header(b"gradwire-timeout-ms")
        if given is not None:
            self._most_ms = min(timeout_of_header(given), self._most_ms)
        self.deadline = Deadline(self._most_ms if given else settings.default_timeout_ms)
        self.account = account_of(scope)
        self.seconds = self.account.phases
        self.body: bytes | bytearray = b""
        self._document: Any = None
        self._scope = scope
        self._owner: str | None = None
        self._settings = settings

    @property
    def owner(self) -> str:
        """Whose request it is."""
        if self._owner is None:
            self._owner = owner_of(self._scope)
        return self._owner

    def essential_headers(self) -> list[Header]:
        """The headers that an answer depends on, once the body is decompressed."""
        given = [(name, self._header(name)) for name in _ESSENTIAL]
        return [(name, value) for name, value in given if value is not None]

    async def receive(self, receive: Receive, capacity: Capacity) -> None:
        """Read the body, decompressed.

        Raises: ``Refusal`` (body_too_large, malformed_body), ``Disconnected``.
        """
        self._receive = receive
        length, most = self._header(b"content-length", b""), self._settings.max_body_bytes
        body = self.body = await read_body(receive, length, most)
        self.account.body_bytes = len(body)
        coding = self.format.coding
        if coding is not None:

            def decompress() -> bytearray:
                with self.phase(PARSE):
                    return coding.decompress(body, most)

            self.body = await self.run(capacity.threads, decompress)

    async def run(
        self,
        queue: Queue,
        work: Callable[[], Result],
        seconds: float | None = None,
        held_up: Callable[[bool], None] | None = None,
    ) -> Result:
        """Have ``work`` done in a thread, for as long as the client is there.

        Raises: what the work does; ``Refusal`` (overloaded), ``DeadlineExceeded``, and
        ``Disconnected`` when the client has gone, upon which the work stops.
        """
        since = perf_counter()
        running = queue.start(
            *(work, self.deadline, len(self.body)),
            owner=self.owner,
            seconds=seconds,
            held_up=held_up,
        )
        watch = asyncio.create_task(self._watch(running.answer))
        try:
            return await running.answer
        finally:
            watch.cancel()
            self.account.wait(since, running.end())
            del running, watch  # whose errors hold this frame

    async def _watch(self, answer: asyncio.Future[Any]) -> None:
        """Wait until the client has gone; it is waiting then for nothing."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not answer.done():
            answer.set_exception(Disconnected())

    @property
    def document(self) -> Any:
        """What the body says, read once; from then on the request has the time it asks for."""
        if self._document is None:
            start = perf_counter()
            document = self._document = self.format.reader.read(self.body)
            timeout_ms = read_timeout(document)
            if timeout_ms is not None:
                self.deadline.allow(min(timeout_ms, self._most_ms))
            self.seconds[PARSE] += perf_counter() - start
        return self._document

    @contextmanager
    def phase(self, number: int) -> Iterator[None]:
        """Count the time until the end as that phase's."""
        start = perf_counter()
        yield
        self.seconds[number] += perf_counter() - start

    def written(self, document: Any, encoding: Encoding | None = None) -> list[Body]:
        """The document of the answer as pieces of a body."""
        start = perf_counter()
        pieces = self.format.writer.write(document, encoding)
        self.seconds[ENCODE] += perf_counter() - start
        return pieces

    async def respond(
        self, send: Send, pieces: list[Body], status: int = 200, further: Iterable[Header] = ()
    ) -> None:
        """Send the response."""
        headers = [(b"server-timing", server_timing(self.seconds)), *further]
        if pieces:
            length = len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))
            headers += (
                (b"content-type", self.format.reply_type),
                (b"content-length", b"%d" % length),
            )
        await send({"type": "http.response.start", "status": status, "headers": headers})
        *before, last = pieces or (b"",)
        for piece in before:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": last})


def owner_of(scope: Scope) -> str:
    """Whose a request is: the tenant's that the key speaks for.

    Where no keys are asked for, who sends the same is one; no store sees a key.
    """
    caller = caller_of(scope)
    if caller is not None:
        return caller.owner
    key = headers_of(scope).get(b"authorization")
    return sha256(key).hexdigest() if key else _NOBODY


class Reply(Response):
    """The response of an exchange, as a route of FastAPI's returns it."""

    def __init__(
        self, x: Exchange, pieces: list[Body], status: int = 200, further: Iterable[Header] = ()
    ) -> None:
        self.background = None
        self.status_code = status
        self._x = x
        self._pieces = pieces
        self._further = further

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._x.respond(send, self._pieces, self.status_code, self._further)


def when(seconds: float) -> str:
    """A time as RFC 3339 writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
