"""Attacks, their requests on the wire, and families of attacks."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from gradwire_service.problems import KINDS

from tests.fleet.connections import Answer

MEBIBYTE = 1 << 20
#: The default timeout that attacks request.
TIMEOUT_MS = 700

#: The bytes of one request.
Pieces: TypeAlias = Iterable[bytes]
#: Successive requests, each of which may depend on the previous response.
Requests: TypeAlias = Generator[Pieces, Answer, None]


@dataclass(frozen=True)
class Attack:
    """Requests that must be refused or answered in time.

    ``codes`` are the allowed error codes, and ``ANSWERED`` for success; None allows all.
    ``behind_nginx`` are those allowed behind nginx. The client disconnects after ``leaves_after``
    seconds. ``pause`` is the time between pieces.
    """

    name: str
    requests: Callable[[], Requests]
    codes: frozenset[str] | None = None
    behind_nginx: frozenset[str] | None = None
    seconds: float = TIMEOUT_MS / 1000
    leaves_after: float | None = None
    pause: float = 0.0


#: Makes the attack with a number, which determines its kind; the rest is random.
Write: TypeAlias = Callable[[int, random.Random], Attack]

ANSWERED = "answered"
#: The possible outcomes of a well-formed body.
SOUND = frozenset([ANSWERED, *KINDS]) - {"malformed_body", "malformed_request"}
#: By name: the number of attacks, and the function that makes each.
FAMILIES: dict[str, tuple[int, Write]] = {}


def family(count: int = 8) -> Callable[[Write], Write]:
    """Registers a family with ``count`` attacks that differ in more than their sizes."""

    def register(write: Write) -> Write:
        FAMILIES[write.__name__.replace("_", " ")] = count, write
        return write

    return register


def asked(
    name: str, path: str, document: Any, *, timeout_ms: int = TIMEOUT_MS, **more: Any
) -> Attack:
    """An attack with a document as JSON."""
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
    """An attack with a body, or with a function that makes the body when it is sent."""

    def requests() -> Requests:
        yield [request(path, body if isinstance(body, bytes) else body(), *headers, method=method)]

    return Attack(name, requests, **more)


def request(
    path: str, body: bytes = b"", *headers: bytes, method: str = "POST", who: str = "attacker"
) -> bytes:
    """A tenant's request that closes its connection."""
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
