"""Single fields of a body, found without reading all of it, in no memory of their own."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from gradwire_service.wire.codec import JSON, MESSAGEPACK, Codec
from gradwire_service.wire.envelope import read_timeout
from gradwire_service.wire.shared import Shared

#: What takes at most some 50 ms to look through: others are not looked into on the event loop. It
#: takes a second for a gigabyte of numbers, or for 200 MB of empty lists.
SOON_BYTES = 16 << 20
#: So many underscores are looked at one by one.
_MOST_UNDERSCORES = 100
#: More is no number that anybody writes.
_MOST_NUMBER_BYTES = 64
_DECODERS: dict[Codec, Callable[..., Any]] = {
    JSON: msgspec.json.decode,
    MESSAGEPACK: msgspec.msgpack.decode,
}
_Bytes: TypeAlias = bytes | bytearray | mmap.mmap


class _Timeout(msgspec.Struct, rename={"written": "timeout_ms"}):
    """The field as it is written; all others are passed over."""

    written: msgspec.Raw = msgspec.Raw()


class _Program(msgspec.Struct, rename={"written": "program"}):
    written: msgspec.Raw = msgspec.Raw()


def timeout_of(body: bytes | bytearray | Shared, codec: Codec) -> float | None:
    """The field ``timeout_ms`` of a body; None where it has none, or cannot be read.

    Then reading it elsewhere says what is wrong. One that has not the word is not looked into.

    Raises: ``Refusal`` (invalid_request) where it is no positive number.
    """
    with _bytes_of(body) as view:
        if codec is JSON and not _has_timeout(view):
            return None
        written = _written(view, codec, _Timeout, _MOST_NUMBER_BYTES)
    try:
        value = _DECODERS[codec](written) if written else None
    except msgspec.MsgspecError:
        return None
    return read_timeout({"timeout_ms": value})


def program_of(body: bytes | bytearray | Shared, codec: Codec) -> bytes | None:
    """The field ``program`` of a body as it is written; None where it has none, or is not read."""
    with _bytes_of(body) as view:
        return _written(view, codec, _Program, len(view)) or None


def _has_timeout(view: _Bytes) -> bool:
    """Whether the word is there at all; numbers have no underscore, and it is found by memchr."""
    word, at = b"timeout_ms", -1
    before = word.index(b"_")
    for _ in range(_MOST_UNDERSCORES):
        at = view.find(b"_", at + 1)
        if at < 0:
            return False
        if view[max(at - before, 0) : at - before + len(word)] == word:
            return True
    return view.find(word) >= 0


def _written(
    view: _Bytes, codec: Codec, fields: type[_Timeout | _Program], most_bytes: int
) -> bytes:
    """A field as it is written, if it is no longer than ``most_bytes``."""
    try:
        decode = _DECODERS[codec]
        with memoryview(decode(view, type=fields).written) as written:
            return bytes(written) if len(written) <= most_bytes else b""
    except (KeyError, msgspec.MsgspecError, RecursionError, ValueError):
        return b""


@contextmanager
def _bytes_of(body: bytes | bytearray | Shared) -> Iterator[_Bytes]:
    if not isinstance(body, Shared):
        yield body
    elif body:
        with mmap.mmap(body.descriptor, len(body), access=mmap.ACCESS_READ) as view:
            yield view
    else:
        yield b""
