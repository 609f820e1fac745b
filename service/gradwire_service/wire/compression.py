"""Content codings: request bodies compressed by gzip or zstd, decompressed within a bound.

A few kilobytes may stand for gigabytes (gzip 1 to 1,000, zstd 1 to 30,000), and the size that a
zstd frame declares may be false. So a body is decompressed piece by piece, each of a bounded size.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

from gradwire_service.problems import RequestError
from gradwire_service.wire.body import too_large
from gradwire_service.wire.shared import Body

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: Compressed bytes read, and decompressed bytes written, at a time.
_INPUT_BYTES = 1 << 16
_OUTPUT_BYTES = 1 << 20
#: Members of one body; each takes some microseconds, even an empty one.
MOST_MEMBERS = 10_000
#: The largest window of a zstd frame in HTTP is 8 MiB. Source: RFC 9659, section 3.
_WINDOW_LOG = 23
_GZIP_FORMAT = 31  # zlib's number: a gzip header and trailer around its largest window
_ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}


class Member(Protocol):
    """Reads one compressed member or frame; a body may have several."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, compressed: bytes, max_length: int, /) -> bytes: ...


class Coding(NamedTuple):
    """One content coding (RFC 9110, 8.4.1); ``member`` makes a reader."""

    name: str
    member: Callable[[], Member]

    def decompress(self, body: Body, max_bytes: int) -> bytearray:
        """The whole body, decompressed.

        Raises: ``RequestError`` (body_too_large) as soon as it has more than ``max_bytes``;
        (malformed_body) if it is truncated, damaged, followed by other data, or has more than
        ``MOST_MEMBERS``.
        """
        whole = bytearray()
        member, members = self.member(), 1
        for start in range(0, len(body), _INPUT_BYTES):
            compressed = bytes(body[start : start + _INPUT_BYTES])
            more = True
            while more:
                if member.eof:
                    member, members = self.member(), members + 1
                piece = self._piece(member, compressed)
                whole += piece
                if len(whole) > max_bytes:
                    raise too_large(max_bytes)
                if members > MOST_MEMBERS:
                    detail = f"the {self.name} body has more than {MOST_MEMBERS} members"
                    raise RequestError("malformed_body", detail, hint="compress it as one")
                if member.eof:
                    compressed = member.unused_data
                    more = bool(compressed)
                else:
                    compressed = getattr(member, "unconsumed_tail", b"")  # zstd keeps its own
                    more = len(piece) == _OUTPUT_BYTES
        if not member.eof:
            raise RequestError("malformed_body", f"the {self.name} body is cut short")
        return whole

    def _piece(self, member: Member, compressed: bytes) -> bytes:
        try:
            return member.decompress(compressed, _OUTPUT_BYTES)
        except (zlib.error, zstd.ZstdError) as error:
            detail = f"the body is not {self.name}, or damaged"
            raise RequestError("malformed_body", detail, hint=_window_hint(error)) from None


#: gzip (RFC 1952), and zstd (RFC 8878) with windows bounded by RFC 9659.
CODINGS = {
    coding.name: coding
    for coding in (
        Coding("zstd", lambda: zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)),
        Coding("gzip", lambda: zlib.decompressobj(_GZIP_FORMAT)),
    )
}


def coding_named(content_encoding: bytes) -> Coding | None:
    """The coding of a body; None for one that is not compressed.

    Raises: ``RequestError`` (unsupported_media_type).
    """
    name = content_encoding.decode("latin-1").strip().lower()
    if name in ("", "identity"):
        return None
    coding = CODINGS.get("gzip" if name == "x-gzip" else name)
    if coding is None:
        raise RequestError(
            "unsupported_media_type",
            f"unsupported Content-Encoding: {name}",
            hint=f"send {' or '.join(CODINGS)}, one of them and once, or the body as it is",
        )
    return coding


def _window_hint(error: Exception) -> str | None:
    if "memory" in str(error):
        return f"zstd frames have windows of at most {1 << _WINDOW_LOG} bytes here"
    return None
