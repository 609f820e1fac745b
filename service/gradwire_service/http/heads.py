"""Checks of a request's head (RFC 9112), beyond those of the parser.

What two servers might read in two ways is refused: such differences let requests be smuggled.
The parser itself refuses lengths that are repeated, signed, listed or beside a transfer coding,
folded lines, line ends without CR, spaces before colons, and control characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_letters, digits
from urllib.parse import unquote_to_bytes

from gradwire_service.problems import RequestError
from gradwire_service.wire.security_headers import Header

_HOST = (ascii_letters + digits + "._~!$&'()*+;=%:[]-").encode()
_ABSOLUTE = re.compile(rb"https?://[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]+(?=[/?]|$)", re.IGNORECASE)
#: Escapes that are invalid, or of control characters and slashes, which no path contains.
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})|%(?:[01][0-9A-Fa-f]|7[Ff]|2[Ff]|5[Cc])")


@lru_cache(maxsize=256)
def read_target(method: str, target: bytes) -> tuple[str, bytes, bytes]:
    """The path, decoded and raw, and the query of a path or an absolute URL (RFC 9112, 3.2).

    Raises: ``RequestError`` (malformed_request).
    """
    if method == "CONNECT":  # what follows it is another protocol's
        raise malformed("CONNECT is for proxies")
    if target[:1] != b"/":
        found = _ABSOLUTE.match(target)
        if found is None:
            raise malformed("the target is neither a path nor an http URL")
        target = target[found.end() :]
        if target[:1] != b"/":
            target = b"/" + target
    if b"#" in target:
        raise malformed("the target has a fragment, which is for clients only")
    raw_path, _, query = target.partition(b"?")
    path = _unescaped(raw_path) if b"%" in raw_path else raw_path.decode("ascii")
    if "/." in path and not {".", ".."}.isdisjoint(path.split("/")):
        raise malformed("the path has a segment . or ..")
    return path, raw_path, query


def _unescaped(raw_path: bytes) -> str:
    if _BAD_ESCAPE.search(raw_path):
        raise malformed("the path has an invalid escape, or one of a control character or slash")
    try:
        return unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        raise malformed("the path's escapes are not UTF-8") from None


def check_headers(version: str, named: Mapping[bytes, bytes], lines: Sequence[Header]) -> None:
    """Check the headers of a request, by name and as they came.

    Raises: ``RequestError`` (malformed_request, expectation_failed).
    """
    if version not in ("1.1", "1.0"):
        raise malformed("unsupported HTTP version", hint="use HTTP/1.1")
    host = named.get(b"host")
    if host is None:
        if version == "1.1":
            raise malformed("the Host header is missing", hint="RFC 9112, section 3.2")
    elif host.translate(None, _HOST):
        raise malformed("the Host header is invalid or repeated", hint="RFC 9112, section 3.2")
    coding = named.get(b"transfer-encoding")
    if coding is not None and (version != "1.1" or coding.strip().lower() != b"chunked"):
        raise malformed(
            "chunked is the only supported transfer coding, in HTTP/1.1",
            hint="the header Content-Encoding says how a body is compressed",
        )
    if b"expect" in named and version == "1.1" and not expects_continue(version, named):
        raise RequestError("expectation_failed", "only Expect: 100-continue is supported")


def framing_of(named: Mapping[bytes, bytes]) -> bytes:
    """The header that says where the body of a checked request ends; empty without a body."""
    if b"transfer-encoding" in named:
        return b"Transfer-Encoding: chunked"
    length = named.get(b"content-length", b"0").strip()
    return b"" if int(length) == 0 else b"Content-Length: " + length


def expects_continue(version: str, named: Mapping[bytes, bytes]) -> bool:
    """True if the client waits for ``100 Continue`` before it sends the body."""
    return version == "1.1" and named.get(b"expect", b"").strip().lower() == b"100-continue"


def malformed(detail: str, hint: str | None = None) -> RequestError:
    """The refusal of a malformed request."""
    return RequestError("malformed_request", detail, hint=hint)
