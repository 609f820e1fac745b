"""Single fields of a body, found without parsing all of it, and without copies."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from gradwire_service.wire.codec import JSON, MESSAGEPACK, Codec
from gradwire_service.wire.envelope import read_timeout
from gradwire_service.wire.scanning import contains
from gradwire_service.wire.shared import SharedMemory

#: Longest body that is scanned on the event loop, in some 2 ms. A gigabyte of numbers, or 200 MB of
#: empty lists, takes a second.
MAX_SCANNED_BYTES = 512 << 10
#: The field, in JSON.
_WORD = b"timeout_ms"
#: Longest number.
_MOST_NUMBER_BYTES = 64
_DECODERS: dict[Codec, Callable[..., Any]] = {
    JSON: msgspec.json.decode,
    MESSAGEPACK: msgspec.msgpack.decode,
}
_Bytes: TypeAlias = bytes | bytearray | mmap.mmap


class _Timeout(msgspec.Struct, rename={"written": "timeout_ms"}):
    """The unparsed field; all others are skipped."""

    written: msgspec.Raw = msgspec.Raw()


class _Program(msgspec.Struct, rename={"written": "program"}):
    written: msgspec.Raw = msgspec.Raw()


class _Background(msgspec.Struct, rename={"written": "background"}):
    written: msgspec.Raw = msgspec.Raw()


class _Wait(msgspec.Struct, rename={"written": "wait_ms"}):
    written: msgspec.Raw = msgspec.Raw()


_Fields: TypeAlias = type[_Timeout | _Program | _Background | _Wait]


def timeout_of(body: bytes | bytearray | SharedMemory, codec: Codec) -> float | None:
    """The field ``timeout_ms`` of a body; None if it is absent, or the body is invalid.

    Parsing an invalid body later reports the error. JSON without the word is not scanned further.

    Raises: ``RequestError`` (invalid_request) if it is not a positive number.
    """
    with _bytes_of(body) as view:
        if codec is JSON and not contains(view, _WORD, _WORD.index(b"_")):  # as in no number
            return None
        value = _value(view, codec, _Timeout)
    return read_timeout({"timeout_ms": value})


def waiting_of(body: bytes | bytearray | SharedMemory, codec: Codec) -> dict[str, Any]:
    """The fields ``background`` and ``wait_ms`` of a body, unchecked; None where absent."""
    with _bytes_of(body) as view:
        return {
            "background": _value(view, codec, _Background),
            "wait_ms": _value(view, codec, _Wait),
        }


def program_of(body: bytes | bytearray | SharedMemory, codec: Codec) -> bytes | None:
    """The unparsed field ``program`` of a body; None if it is absent, or the body is invalid."""
    with _bytes_of(body) as view:
        return _written(view, codec, _Program, len(view)) or None


def _value(view: _Bytes, codec: Codec, fields: _Fields) -> Any:
    """The value of a short field; None if it is absent, long or invalid."""
    written = _written(view, codec, fields, _MOST_NUMBER_BYTES)
    try:
        return _DECODERS[codec](written) if written else None
    except msgspec.MsgspecError:
        return None


def _written(view: _Bytes, codec: Codec, fields: _Fields, most_bytes: int) -> bytes:
    """An unparsed field, empty if it is longer than ``most_bytes``."""
    try:
        decode = _DECODERS[codec]
        with memoryview(decode(view, type=fields).written) as written:
            return bytes(written) if len(written) <= most_bytes else b""
    except (KeyError, msgspec.MsgspecError, RecursionError, ValueError):
        return b""


@contextmanager
def _bytes_of(body: bytes | bytearray | SharedMemory) -> Iterator[_Bytes]:
    if not isinstance(body, SharedMemory):
        yield body
    elif body:
        with mmap.mmap(body.descriptor, len(body), access=mmap.ACCESS_READ) as view:
            yield view
    else:
        yield b""
