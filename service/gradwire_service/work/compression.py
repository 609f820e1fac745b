"""Answers compressed as ``Accept-Encoding`` prefers."""

from __future__ import annotations

from functools import lru_cache

from gradwire_service.wire.compression import Coding, preferred
from gradwire_service.wire.headers import MOST_BYTES
from gradwire_service.wire.shared import Body
from gradwire_service.work.request import Request

#: Smaller bodies fit into one packet as they are.
LEAST_BYTES = 1024
#: Of larger bodies so much is tried first, and what keeps more than this part is left alone:
#: numbers' bytes keep nearly all, their digits half.
_SAMPLE_BYTES = 1 << 13
_MOST_KEPT = 0.8
VARY = (b"vary", b"accept-encoding")

_preferred = lru_cache(maxsize=256)(preferred)


def coding_of(accept_encoding: bytes) -> Coding | None:
    """How a client prefers its answer compressed, if at all."""
    if not accept_encoding:
        return None
    return _preferred(accept_encoding[:MOST_BYTES].decode("latin-1"))


def compressed(pieces: list[Body], request: Request) -> list[Body]:
    """The body of an answer as its client prefers it, where that is worth it."""
    coding = coding_of(request.headers.get(b"accept-encoding", b""))
    if coding is None or sum(map(len, pieces)) < LEAST_BYTES:
        return pieces
    request.add(VARY)
    largest = max(pieces, key=len)
    sample = bytes(largest[len(largest) // 2 :][:_SAMPLE_BYTES])
    if len(coding.compress(sample)) > _MOST_KEPT * len(sample):
        return pieces
    request.add((b"content-encoding", coding.name.encode()))
    return [coding.compress(b"".join(pieces))]
