"""What the head of a request must be (RFC 9112), beyond what the parser asks for.

What two servers might read in two ways is refused: of such differences requests are smuggled.
The parser itself refuses lengths that are double, signed, listed or beside a transfer coding,
folded lines, line ends without CR, spaces before colons, and control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from gradwire_service.problems import Refusal

Header = tuple[bytes, bytes]

_VERSIONS = ("1.1", "1.0")
_SPECIAL = frozenset((b"host", b"transfer-encoding", b"expect"))
_HOST = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
_ABSOLUTE = re.compile(rb"https?://[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]+(?=[/?]|$)", re.IGNORECASE)
#: Escapes that mean nothing, or what a path cannot hold: slashes are what it is made of.
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})|%(?:[01][0-9A-Fa-f]|7[Ff]|2[Ff]|5[Cc])")


class Target(NamedTuple):
    """What a request asks for."""

    path: str
    raw_path: bytes
    query: bytes


def read_target(method: str, target: bytes) -> Target:
    """The path and query of a target in origin-form or absolute-form (RFC 9112, section 3.2).

    Raises: ``Refusal`` (malformed_request).
    """
    if target[:1] != b"/":
        if target == b"*" and method == "OPTIONS":
            return Target("*", target, b"")
        found = _ABSOLUTE.match(target)
        if found is None or method == "CONNECT":
            raise malformed("the target is no path: this is no proxy")
        target = target[found.end() :]
        if target[:1] != b"/":
            target = b"/" + target
    elif method == "CONNECT":
        raise malformed("CONNECT is for proxies")
    if b"#" in target:
        raise malformed("the target has a fragment, which is for clients alone")
    raw_path, _, query = target.partition(b"?")
    path = _unescaped(raw_path) if b"%" in raw_path else raw_path.decode("ascii")
    if "/." in path and not {".", ".."}.isdisjoint(path.split("/")):
        raise malformed("the path has a segment of dots alone")
    return Target(path, raw_path, query)


def _unescaped(raw_path: bytes) -> str:
    if _BAD_ESCAPE.search(raw_path):
        raise malformed("the path has an escape of no character, or of one no path may have")
    try:
        return unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        raise malformed("the path's escapes are not UTF-8") from None


def read_headers(version: str, headers: Iterable[Header]) -> tuple[int, bool]:
    """How many bytes the headers are, and whether the client waits to be told to go on.

    Raises: ``Refusal`` (malformed_request, expectation_failed).
    """
    if version not in _VERSIONS:
        raise malformed("the version is not one that is spoken here", hint="speak HTTP/1.1")
    size = hosts = 0
    expects = False
    for name, value in headers:
        size += len(name) + len(value)
        if name in _SPECIAL:
            if name == b"host":
                hosts += 1
                if not _HOST.fullmatch(value):
                    raise malformed("the header Host names no host")
            elif name == b"transfer-encoding":
                if version != "1.1" or value.strip().lower() != b"chunked":
                    raise malformed(
                        "chunked is the one transfer coding that is read, in HTTP/1.1",
                        hint="the header Content-Encoding says how a body is compressed",
                    )
            elif version == "1.1":
                if value.strip().lower() != b"100-continue":
                    raise Refusal("expectation_failed", "only 100-continue may be expected here")
                expects = True
    if hosts != 1 and (hosts or version == "1.1"):
        raise malformed("a request has one header Host", hint="RFC 9112, section 3.2")
    return size, expects


def has_body(headers: Iterable[Header]) -> bool:
    """Whether a body follows a head."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
        for name, value in headers
    )


def malformed(detail: str, hint: str | None = None) -> Refusal:
    """The refusal of what is no request."""
    return Refusal("malformed_request", detail, hint=hint)
