"""An attack, how it is asked on the wire, and families of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from gradwire_service.problems import KINDS

from tests.fleet.connections import Answer

MEBIBYTE = 1 << 20
#: How long each attack asks for, where it says nothing else.
TIMEOUT_MS = 700

#: The bytes of one request.
Pieces: TypeAlias = Iterable[bytes]
#: Requests one after the other, each made from what became of the one before.
Requests: TypeAlias = Generator[Pieces, Answer, None]


@dataclass(frozen=True)
class Attack:
    """Requests that are to be refused, or answered in their time.

    ``codes`` are those of the refusal, and ``ANSWERED``, where not all are right; ``behind_nginx``
    where nginx reads the request. ``leaves_after`` so many seconds nobody waits for the answer.
    ``pause`` is what is waited between pieces.
    """

    name: str
    requests: Callable[[], Requests]
    codes: frozenset[str] | None = None
    behind_nginx: frozenset[str] | None = None
    seconds: float = TIMEOUT_MS / 1000
    leaves_after: float | None = None
    pause: float = 0.0


#: Makes the attack of a number, which draws what the number does not decide.
Write: TypeAlias = Callable[[int, random.Random], Attack]

ANSWERED = "answered"
#: What a body may come to that can be read.
SOUND = frozenset([ANSWERED, *KINDS]) - {"malformed_body", "malformed_request"}
#: By name: how many there are, and what makes each.
FAMILIES: dict[str, tuple[int, Write]] = {}


def family(count: int = 8) -> Callable[[Write], Write]:
    """Registers a family, of which ``count`` differ by more than sizes."""

    def register(write: Write) -> Write:
        FAMILIES[write.__name__.replace("_", " ")] = count, write
        return write

    return register


def asked(
    name: str, path: str, document: Any, *, timeout_ms: int = TIMEOUT_MS, **more: Any
) -> Attack:
    """A document, as JSON."""
    body = json.dumps({**document, "timeout_ms": timeout_ms}).encode()
    return sent(name, path, body, seconds=timeout_ms / 1000, **more)


def sent(
    name: str,
    path: str,
    body: bytes | Callable[[], bytes],
    *headers: bytes,
    method: str = "POST",
    **more: Any,
) -> Attack:
    """A body, or what makes one when it is sent."""

    def requests() -> Requests:
        yield [request(path, body if isinstance(body, bytes) else body(), *headers, method=method)]

    return Attack(name, requests, **more)


def request(
    path: str, body: bytes = b"", *headers: bytes, method: str = "POST", who: str = "attacker"
) -> bytes:
    """A tenant's request that is the last on its connection."""
    head = [
        f"{method} {path} HTTP/1.1".encode(),
        b"Host: service",
        f"Authorization: Bearer {who}".encode(),
        b"Connection: close",
        *headers,
    ]
    if body:
        head.append(b"Content-Length: %d" % len(body))
        if not any(header.startswith(b"Content-Type") for header in headers):
            head.append(b"Content-Type: application/json")
    return b"\r\n".join([*head, b"", b""]) + body


def clipped(text: str, most: int = 100) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)})"
