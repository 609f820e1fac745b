"""A request as work sees it: what it asks, until when, and what is to be said of its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, TypeAlias

from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.wire.codec import DOCUMENTS, Encoding, Offer, negotiated
from gradwire_service.wire.envelope import read_timeout, timeout_of_header
from gradwire_service.wire.shared import LARGE_BYTES, Body
from gradwire_service.wire.single_fields import SOON_BYTES, timeout_of

#: The phases, by which durations are told.
PARSE, COMPILE, REPLAY, ENCODE = range(4)
Header: TypeAlias = tuple[bytes, bytes]
#: The headers that an answer depends on.
TASK_HEADERS = (
    b"content-type",
    b"content-encoding",
    b"accept",
    b"accept-encoding",
    b"gradwire-timeout-ms",
    b"if-none-match",
    b"idempotency-key",
)


@dataclass(slots=True)
class Outcome:
    """What there is to say of an answer beside its body."""

    status: int = 200
    headers: tuple[Header, ...] = ()
    #: Seconds that each phase took.
    phases: list[float] = field(default_factory=lambda: [0.0] * 4)
    #: The id of the program.
    program: str | None = None
    #: Whether an executable was at hand; None where nothing was computed.
    cached: bool | None = None
    #: Whether a tape's values were at hand; None where no tape was asked.
    kept: bool | None = None
    #: The directions in which the answer is not finite.
    nonfinite: Collection[str] = ()
    #: What later requests are about that are answered soonest where this one was.
    home: str | None = None
    #: How long the next replay is predicted to take, and how large its answer is.
    next_seconds: float = float("inf")
    next_bytes: int = 0


class Request:
    """What is asked; ``outcome`` is filled while it is answered.

    Raises: ``Refusal`` (unsupported_media_type, not_acceptable, invalid_request) for headers that
    cannot be read.
    """

    def __init__(
        self,
        headers: Mapping[bytes, bytes],
        owner: str,
        settings: Settings,
        offer: Offer = DOCUMENTS,
    ) -> None:
        header = headers.get
        self.headers = headers
        self.owner = owner
        self.format = negotiated(
            header(b"content-type", b""),
            header(b"content-encoding", b""),
            header(b"accept", b""),
            offer,
        )
        given = header(b"gradwire-timeout-ms")
        self.most_ms: float = settings.max_timeout_ms
        if given is not None:
            self.most_ms = min(timeout_of_header(given), self.most_ms)
        self.deadline = Deadline(self.most_ms if given else settings.default_timeout_ms)
        self._most_bytes = settings.max_body_bytes
        #: As it came, until it is decompressed.
        self.body: bytes | bytearray = b""
        self._was_compressed = self._compressed = self.format.coding is not None
        self._document: Any = None
        self.outcome = Outcome()
        #: Is told of the time that the body asks for.
        self.on_timeout: Callable[[float], None] = lambda _: None

    @property
    def document(self) -> Any:
        """What the body says, read once; from then on the request has the time it asks for.

        Raises: ``Refusal`` (malformed_body, body_too_large, invalid_request).
        """
        if self._document is None:
            body = self.plain_body if self._compressed else self.body
            start = perf_counter()
            if len(body) > SOON_BYTES or (self._was_compressed and len(body) > LARGE_BYTES):
                self.allow(timeout_of(body, self.format.reader))  # nobody has looked yet
            self._document = self.format.reader.read(body)
            self.outcome.phases[PARSE] += perf_counter() - start
            self.allow(read_timeout(self._document))
        return self._document

    @property
    def plain_body(self) -> bytes | bytearray:
        """The body, decompressed.

        Raises: ``Refusal`` (malformed_body, body_too_large).
        """
        if self._compressed:
            assert self.format.coding is not None
            with self.phase(PARSE):
                self.body = self.format.coding.decompress(self.body, self._most_bytes)
            self._compressed = False
        return self.body

    def allow(self, timeout_ms: float | None) -> None:
        """Give the request the time that its body asks for, within what its header leaves."""
        if timeout_ms is not None:
            self.deadline.allow(min(timeout_ms, self.most_ms))
            self.on_timeout(self.deadline.allowed_ms)

    @contextmanager
    def phase(self, number: int) -> Iterator[None]:
        """Count the time until the end as that phase's."""
        start = perf_counter()
        yield
        self.outcome.phases[number] += perf_counter() - start

    def encode(self, document: Any, encoding: Encoding | None = None) -> list[Body]:
        """The document of the answer as pieces of a body."""
        start = perf_counter()
        pieces = self.format.writer.write(document, encoding)
        self.outcome.phases[ENCODE] += perf_counter() - start
        return pieces

    def client_has(self, id: str) -> bool:
        """Whether the client has the resource that bears the tag of ``id`` already."""
        known = self.headers.get(b"if-none-match", b"").decode("latin-1")
        return f'"{id}"' in known or known.strip() == "*"

    def set_etag(self, id: str) -> bool:
        """Give the response the tag of ``id``; whether the client has what bears it (304).

        The tag is weak: it is that of what a resource means, in whatever form it is sent.
        """
        self.add((b"etag", f'W/"{id}"'.encode()), (b"vary", b"accept"))
        unchanged = self.client_has(id)
        if unchanged:
            self.outcome.status = 304
        return unchanged

    def set_location(self, location: str, *, new: bool) -> None:
        """Say that a resource is there, and where."""
        if new:
            self.outcome.status = 201
            self.add((b"location", location.encode()))

    def add(self, *headers: Header) -> None:
        """Give the response further headers."""
        self.outcome.headers = (*self.outcome.headers, *headers)


def rfc3339(seconds: float) -> str:
    """A time as RFC 3339 writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
