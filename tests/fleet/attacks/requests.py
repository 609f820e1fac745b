"""Ambiguous, oversized and historically dangerous HTTP requests, byte for byte."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from random import Random
from typing import Any

from tests.fleet.attacks.attack import MEBIBYTE, Attack, Pieces, Requests, family

GOOD = b'{"program": "x * x", "variables": {"x": 3}}'
POST = b"POST /v1/gradient HTTP/1.1\r\nHost: service\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
LAST = CHUNKED[:-2] + b"Connection: close\r\n\r\n"
#: A hidden request that no server may process; no other test requests this path.
SMUGGLED = b"GET /v1/limits HTTP/1.1\r\nHost: service\r\n\r\n"


def post(body: bytes, *headers: bytes) -> bytes:
    """A request for a gradient that closes its connection."""
    lines = [b"Connection: close", b"Content-Length: %d" % len(body), *headers]
    return POST + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def get(target: bytes, *headers: bytes, method: bytes = b"GET") -> bytes:
    """A request without a body that closes its connection."""
    lines = [b"Host: service", b"Connection: close", *headers]
    return method + b" " + target + b" HTTP/1.1\r\n" + b"\r\n".join(lines) + b"\r\n\r\n"


def repeated(piece: bytes, size: int, head: bytes = b"") -> Iterable[bytes]:
    """Small pieces of ``size`` bytes in total."""
    yield head
    many = piece * (65536 // len(piece) + 1)
    for _ in range(0, size, len(many)):
        yield many


def coded(*codings: bytes) -> bytes:
    """A body in chunks, if these headers are valid, followed by a hidden request."""
    lines = b"".join(b"Transfer-Encoding: " + coding + b"\r\n" for coding in codings)
    return POST + lines + b"\r\n0\r\n\r\n" + SMUGGLED


def sized(*lengths: bytes) -> bytes:
    """A body of this length, if these headers are valid, followed by a hidden request."""
    lines = b"".join(b"Content-Length: " + length + b"\r\n" for length in lengths)
    return POST + lines + b"\r\n" + SMUGGLED


#: Invalid or ambiguous requests, which both nginx and the service refuse with 400.
AMBIGUOUS: dict[str, bytes] = {
    "a length and chunks": POST + b"Content-Length: 5\r\n" + coded(b"chunked")[len(POST) :],
    "chunks and a length": POST
    + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    + SMUGGLED,
    "two lengths": sized(b"0", b"%d" % len(SMUGGLED)),
    "one length twice": sized(b"5", b"5"),
    **{f"a length of {length!r}": sized(length) for length in (b"+5", b"5, 5", b"0x5", b"-1", b"")},
    "a length beyond 64 bits": sized(b"9" * 25),
    "two codings": coded(b"gzip, chunked"),
    "chunks within": coded(b"chunked, gzip"),
    "chunks, disguised": coded(b"xchunked"),
    "chunks twice": coded(b"chunked", b"chunked"),
    "chunks of HTTP/1.0": coded(b"chunked").replace(b"HTTP/1.1", b"HTTP/1.0", 1),
    "a space before a colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "a folded header": get(b"/healthz", b"A: b\r\n c"),
    "a NUL": get(b"/healthz", b"A: b\0c"),
    "a bare CR": get(b"/healthz", b"A: b\rc"),
    "no name": get(b"/healthz", b": b"),
    "no host": b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
    "two hosts": get(b"/healthz", b"Host: other"),
    "a host that is none": get(b"/healthz").replace(b"Host: service", b"Host: a b"),
    "a size of too many digits": CHUNKED + b"f" * 17 + b"\r\n",
    "a negative size": CHUNKED + b"-1\r\n" + SMUGGLED,
    "a size in the wrong base": CHUNKED + b"0x5\r\n" + SMUGGLED,
    "a chunk too long": CHUNKED + b"1\r\nab\r\n0\r\n\r\n",
    "version 2": get(b"/healthz").replace(b"HTTP/1.1", b"HTTP/2.0"),
    "a preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no version": b"GET  HTTP\r\n\r\n",
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "noise": bytes(range(256)) * 4,
    "an authority": get(b"service:80", method=b"CONNECT"),
    "a name": get(b"healthz"),
    "escapes of nothing": get(b"/%zz"),
    "an escaped NUL": get(b"/healthz%00"),
    "upwards": get(b"/a/../../etc/passwd"),
}
#: Requests that nginx normalises before it forwards them; the service alone answers 400.
READ_BY_NGINX: dict[str, bytes] = {
    "lines that end in LF": b"GET /healthz HTTP/1.1\nHost: service\nConnection: close\n\n",
    "two codes of dots": get(b"/a/%2e%2E/b"),
    "an escaped slash": get(b"/v1%2fops"),
    "an overlong slash": get(b"/%c0%af"),
    "a fragment": get(b"/healthz#a"),
    "another scheme": get(b"ftp://service/"),
    "a long extension": LAST + b"1;" + b"a" * MEBIBYTE + b"\r\n \r\n0\r\n\r\n",
    "long trailers": LAST + b"0\r\nA: " + b"a" * MEBIBYTE + b"\r\n\r\n",
    "a size with a space": LAST + b"2 \r\n{}\r\n0\r\n\r\n",
}
#: Oversized requests: the error code, the beginning, and the part that is repeated.
TOO_MUCH: dict[str, tuple[str, bytes, bytes]] = {
    "a header of 64 MiB": ("headers_too_large", get(b"/")[:-2] + b"A: ", b"a"),
    "cookies": ("headers_too_large", get(b"/")[:-2], b"Cookie: a=b\r\n"),
    "a path of 64 MiB": ("target_too_long", b"GET /", b"a"),
}


def program(text: str, **more: Any) -> bytes:
    """The request for the gradient of a program."""
    return post(json.dumps({"program": text, "variables": {"x": 3.0}, **more}).encode())


#: Valid HTTP requests that ask for too much, each in another way.
BOMBS: dict[str, tuple[str, bytes]] = {
    "depth of JSON": ("over_budget", post(b"[" * (16 * MEBIBYTE))),
    "depth of a program": ("syntax_error", program("(" * 5000 + "x" + ")" * 5000)),
    "depth of calls": ("invalid_program", program("def f(a): return f(a)\nf(x)")),
    "size that is said": ("body_too_large", POST + b"Content-Length: %d\r\n\r\n" % (1 << 40)),
    "size of a program": ("over_budget", program("x" + "+x" * 2_500_000)),
    "size of an array": ("over_budget", program("sum(zeros(4000000000) * x)")),
    "compression": (
        "body_too_large",
        post(gzip.compress(bytes(8 * MEBIBYTE)) * 40, b"Content-Encoding: gzip"),
    ),
    "doubling": (
        "over_budget",
        program("a = stack([x, x])\n" + "a = concat([a, a])\n" * 60 + "sum(a)"),
    ),
    "chunks of one byte": (
        "malformed_body",
        LAST + b"1\r\n \r\n" * (MEBIBYTE // 2) + b"0\r\n\r\n",
    ),
    "a tower": ("bad_argument", program("x * 9 ** 9 ** 9 ** 9")),
    "a trace": ("method_not_allowed", get(b"/v1/ops", method=b"TRACE")),
    "a loop without end": ("deadline_exceeded", program("while True: pass\nx", timeout_ms=300)),
}


def _one(name: str, sent: Pieces, **more: Any) -> Attack:
    def requests() -> Requests:
        yield sent

    return Attack(name, requests, **more)


@family(len(AMBIGUOUS))
def what_is_no_request(number: int, _: Random) -> Attack:
    """Invalid requests, or two in one."""
    name, sent = list(AMBIGUOUS.items())[number % len(AMBIGUOUS)]
    refused = frozenset(["malformed_request"])
    return _one(name, [sent], codes=refused, behind_nginx=refused, seconds=0)


@family(len(READ_BY_NGINX))
def what_nginx_reads(number: int, _: Random) -> Attack:
    """Requests that the service refuses and nginx normalises."""
    name, sent = list(READ_BY_NGINX.items())[number % len(READ_BY_NGINX)]
    return _one(name, [sent], codes=frozenset(["malformed_request"]), seconds=0)


@family(1)
def what_is_expected(_number: int, _: Random) -> Attack:
    """An Expect header, which nginx does not forward."""
    sent = get(b"/healthz", b"Expect: the-impossible")
    return _one("an expectation", [sent], codes=frozenset(["expectation_failed"]), seconds=0)


@family(len(TOO_MUCH))
def what_is_too_much(number: int, _: Random) -> Attack:
    """Endless request heads."""
    name, (code, head, piece) = list(TOO_MUCH.items())[number % len(TOO_MUCH)]
    codes = frozenset([code])
    sent = repeated(piece, 64 * MEBIBYTE, head)
    return _one(name, sent, codes=codes, behind_nginx=codes, seconds=0)


@family(len(BOMBS))
def what_is_known(number: int, _: Random) -> Attack:
    """One valid request for each way to ask for too much, with its error code."""
    name, (code, sent) = list(BOMBS.items())[number % len(BOMBS)]
    codes = frozenset([code])
    return _one(name, [sent], codes=codes, behind_nginx=codes, seconds=1)
