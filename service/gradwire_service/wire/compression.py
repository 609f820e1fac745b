"""Content codings: bodies compressed by gzip or zstd, both ways, never beyond a bound.

A few kilobytes may stand for gigabytes (gzip 1 to 1,000, zstd 1 to 30,000), and what a zstd frame
says of its own size is only a claim. So a body is decompressed piece by piece, and no piece is
larger than what is asked for, whatever the frame says.
"""

from __future__ import annotations

import sys
import zlib
from abc import ABC, abstractmethod
from typing import Protocol

from gradwire_service.problems import Refusal
from gradwire_service.wire.body import too_large
from gradwire_service.wire.preferences import qualities
from gradwire_service.wire.shared import Body

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: Compressed bytes taken, and decompressed bytes given, at a time.
_INPUT_BYTES = 1 << 16
_OUTPUT_BYTES = 1 << 20
#: Members of one body; each costs its reader some microseconds, even where it holds nothing.
MOST_MEMBERS = 10_000
#: The largest window of a zstd frame in HTTP is 8 MiB. Source: RFC 9659, section 3.
_WINDOW_LOG = 23
#: The levels at which JSON's digits shrink well for the time: half their size at some 50 and 300
#: MB a second.
_GZIP_LEVEL = 1
_ZSTD_LEVEL = 1
_GZIP_FORMAT = 31  # zlib's number: a gzip header and trailer around its largest window


class Member(Protocol):
    """One compressed member or frame as it is read; several may follow one another."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, compressed: bytes, max_length: int, /) -> bytes: ...


class Coding(ABC):
    """One content coding (RFC 9110, 8.4.1)."""

    name: str

    @abstractmethod
    def compress(self, body: Body) -> bytes:
        """The whole body compressed."""

    @abstractmethod
    def member(self) -> Member:
        """What reads one member of a body, and stops at its end."""

    def decompress(self, body: Body, max_bytes: int) -> bytearray:
        """The whole body decompressed.

        Raises: ``Refusal`` (body_too_large) as soon as it has more than ``max_bytes``;
        (malformed_body) where it is cut short or damaged, has more than ``MOST_MEMBERS``, or
        something else follows it.
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
                    raise Refusal("malformed_body", detail, hint="compress it as one")
                if member.eof:
                    compressed = member.unused_data
                    more = bool(compressed)
                else:
                    compressed = getattr(member, "unconsumed_tail", b"")  # zstd keeps its own
                    more = len(piece) == _OUTPUT_BYTES
        if not member.eof:
            raise Refusal("malformed_body", f"the {self.name} body is cut short")
        return whole

    def _piece(self, member: Member, compressed: bytes) -> bytes:
        try:
            return member.decompress(compressed, _OUTPUT_BYTES)
        except (zlib.error, zstd.ZstdError) as error:
            detail = f"the body is not {self.name}, or damaged"
            raise Refusal("malformed_body", detail, hint=_window_hint(error)) from None


class Gzip(Coding):
    """RFC 1952."""

    name = "gzip"

    def compress(self, body: Body) -> bytes:
        return zlib.compress(body, _GZIP_LEVEL, _GZIP_FORMAT)

    def member(self) -> Member:
        return zlib.decompressobj(_GZIP_FORMAT)


class Zstd(Coding):
    """RFC 8878, its windows bounded by RFC 9659."""

    name = "zstd"

    def compress(self, body: Body) -> bytes:
        return zstd.compress(body, _ZSTD_LEVEL)

    def member(self) -> Member:
        return zstd.ZstdDecompressor(
            options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        )


def _window_hint(error: Exception) -> str | None:
    if "memory" in str(error):
        return f"zstd frames have windows of at most {1 << _WINDOW_LOG} bytes here"
    return None


CODINGS: dict[str, Coding] = {coding.name: coding for coding in (Zstd(), Gzip())}


def coding_named(content_encoding: bytes) -> Coding | None:
    """The coding of a body, none where it is sent as it is.

    Raises: ``Refusal`` (unsupported_media_type).
    """
    name = content_encoding.decode("latin-1").strip().lower()
    if name in ("", "identity"):
        return None
    coding = CODINGS.get("gzip" if name == "x-gzip" else name)
    if coding is None:
        raise Refusal(
            "unsupported_media_type",
            f"unsupported Content-Encoding: {name}",
            hint=f"send {' or '.join(CODINGS)}, one of them and once, or the body as it is",
        )
    return coding


def preferred(accept_encoding: str) -> Coding | None:
    """The coding that a client prefers for its response; none where it wants it as it is."""
    wanted = qualities(accept_encoding)
    best, best_quality = None, wanted.get("identity", 0.0)
    for coding in CODINGS.values():
        quality = wanted.get(coding.name, wanted.get("*", 0.0))
        if quality > best_quality:
            best, best_quality = coding, quality
    return best
