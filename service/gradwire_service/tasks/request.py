"""A request as handlers see it: body, deadline, formats, and the outcome of its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Deadline, TooLongInline
from gradwire_service.scheduling.placement import Cost, Device
from gradwire_service.settings import Settings
from gradwire_service.wire.codec import DOCUMENTS, MOST_PARTS, Encoding, Offer, negotiate
from gradwire_service.wire.envelope import read_timeout, timeout_of_header
from gradwire_service.wire.peek import MAX_SCANNED_BYTES, timeout_of
from gradwire_service.wire.shared import MAX_INLINE_BYTES, Body

#: The phases whose durations are measured.
PARSE, COMPILE, REPLAY, ENCODE = range(4)
Header: TypeAlias = tuple[bytes, bytes]
#: The request headers that an answer depends on.
TASK_HEADERS = (
    b"content-type",
    b"content-encoding",
    b"accept",
    b"gradwire-timeout-ms",
    b"if-none-match",
    b"idempotency-key",
    b"gradwire-redirect",
)


class ProgressMessage(NamedTuple):
    """The progress of a task as a JSON object, and a checkpoint that it can go on from, if new."""

    progress: str
    checkpoint: bytes | None = None
    #: Whether the run gives the same bits as an equal one, if it begins at the same place.
    exact: bool = False


#: Hears of the progress of a task.
Listener: TypeAlias = Callable[[ProgressMessage], None]


@dataclass(slots=True)
class Outcome:
    """The result of a request, except for the body of its answer."""

    status: int = 200
    headers: tuple[Header, ...] = ()
    #: Seconds of each phase.
    phases: list[float] = field(default_factory=lambda: [0.0] * 4)
    #: The id of the program.
    program: str | None = None
    #: Whether the executable was cached; None if nothing was computed.
    cached: bool | None = None
    #: Whether a tape's values were cached; None if no tape was used.
    kept: bool | None = None
    #: The directions with non-finite values, ``forward`` and ``backward``.
    nonfinite: Collection[str] = ()
    #: The resource whose later requests the same executor answers fastest.
    home: str | None = None
    #: Predicted seconds of the next replay, and bytes of its answer.
    next_seconds: float = float("inf")
    next_bytes: int = 0
    #: The prediction for its replays.
    cost: Cost | None = None
    #: Whether the GPU's process computed it, and which operations on the host.
    on_gpu: bool = False
    hosted: Collection[str] = ()
    #: Whether an optimisation has reached the cluster where its data are.
    on_cluster: bool = False
    #: Whether an optimisation is to go on on the GPU, from its latest checkpoint.
    moves: bool = False


class Request:
    """A request, whose ``outcome`` is filled while it is answered.

    Raises: ``RequestError`` (unsupported_media_type, not_acceptable, invalid_request) for headers
    that cannot be read.
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
        self.format = negotiate(
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
        #: The body as received, until it is decompressed.
        self.body: bytes | bytearray = b""
        self._compressed = self.format.coding is not None
        self._document: Any = None
        self.outcome = Outcome()
        #: Called with the timeout in the body.
        self.on_timeout: Callable[[float], None] = lambda _: None
        #: Where an optimisation goes on; empty to begin at its start.
        self.checkpoint: bytes = b""
        #: The GPU where it may go on.
        self.device: Device | None = None
        #: Called with the progress of long work.
        self.on_progress: Listener = lambda _: None

    def begin_anew(self) -> None:
        """Allow work that was stopped to be done again, up to the same deadline."""
        self.deadline = self.deadline.renewed()

    @property
    def document(self) -> Any:
        """The parsed body; reading it first applies the timeout in it.

        Raises: ``RequestError`` (malformed_body, body_too_large, invalid_request).
        """
        return self._read(MOST_PARTS)

    def short_document(self, most_parts: int) -> Any:
        """The same, if it has few parts: lists, objects, strings, and numbers one by one.

        Raises: ``TooLongInline`` if it has more.
        """
        try:
            return self._read(most_parts)
        except RequestError as error:
            if error.code != "over_budget":
                raise
            raise TooLongInline("the body has many parts") from None

    def _read(self, most_parts: int) -> Any:
        if self._document is None:
            body = self.plain_body if self._compressed else self.body
            start = perf_counter()
            # The event loop has looked for the timeout, but not in the longest and compressed ones.
            if len(body) > (MAX_INLINE_BYTES if self.format.coding else MAX_SCANNED_BYTES):
                self.allow(timeout_of(body, self.format.reader))
            self._document = self.format.reader.read(body, most_parts)
            self.outcome.phases[PARSE] += perf_counter() - start
            self.allow(read_timeout(self._document))
        return self._document

    @property
    def plain_body(self) -> bytes | bytearray:
        """The body, decompressed.

        Raises: ``RequestError`` (malformed_body, body_too_large).
        """
        if self._compressed:
            assert self.format.coding is not None
            with self.phase(PARSE):
                self.body = self.format.coding.decompress(self.body, self._most_bytes)
            self._compressed = False
        return self.body

    def allow(self, timeout_ms: float | None) -> None:
        """Apply the timeout in the body, limited by that in the header."""
        if timeout_ms is not None:
            self.deadline.allow(min(timeout_ms, self.most_ms))
            self.on_timeout(self.deadline.allowed_ms)

    @contextmanager
    def phase(self, number: int) -> Iterator[None]:
        """Add the duration of the context to a phase."""
        start = perf_counter()
        yield
        self.outcome.phases[number] += perf_counter() - start

    def encode(self, document: Any, encoding: Encoding | None = None) -> list[Body]:
        """Encode the document of the answer, in pieces."""
        start = perf_counter()
        pieces = self.format.writer.write(document, encoding)
        self.outcome.phases[ENCODE] += perf_counter() - start
        return pieces

    def client_has(self, id: str) -> bool:
        """True if ``If-None-Match`` has the entity tag of ``id``."""
        known = self.headers.get(b"if-none-match", b"").decode("latin-1")
        return f'"{id}"' in known or known.strip() == "*"

    def set_etag(self, id: str) -> bool:
        """Set the entity tag of the response; returns whether the client has it already (304).

        The tag is weak: it is the same for every format of a resource.
        """
        self.add((b"etag", f'W/"{id}"'.encode()), (b"vary", b"accept"))
        unchanged = self.client_has(id)
        if unchanged:
            self.outcome.status = 304
        return unchanged

    def set_location(self, location: str, *, new: bool) -> None:
        """Set status 201 and the location of a ``new`` resource."""
        if new:
            self.outcome.status = 201
            self.add((b"location", location.encode()))

    def redirect(self, location: bytes) -> None:
        """Have nginx send the request to a ``location`` of its own; nothing was computed here."""
        self.outcome.status = 307
        self.outcome.cached = None
        self.add((b"x-accel-redirect", location))

    def add(self, *headers: Header) -> None:
        """Add headers to the response."""
        self.outcome.headers = (*self.outcome.headers, *headers)


def rfc3339(seconds: float) -> str:
    """A time in the format of RFC 3339."""
    return _of_second(math.floor(seconds))


@lru_cache(maxsize=64)  # what one answer leaves with the service expires in the same second
def _of_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
