"""Every decoder of client input must refuse any bytes or agree with a reference decoder."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import Any

import msgpack
import numpy as np
from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import Malformed
from gradwire_service.wire.codec import JSON
from gradwire_service.wire.compression import CODINGS
from gradwire_service.wire.envelope import FIELDS, read_envelope, read_tape, read_timeout
from gradwire_service.wire.leaves import read_tensor
from gradwire_service.wire.npy import read_npy
from gradwire_service.wire.references import References
from gradwire_service.wire.sources import read_registration
from gradwire_service.wire.unpacking import unpack

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: The limit of decompression.
MOST_BYTES = 1 << 20


def read_json(body: bytes) -> None:
    """Python's parser gives the same document; of duplicate names both take the last."""
    read = JSON.read(body)
    assert repr(json.loads(body, parse_int=_wide)) == repr(read)


def read_messagepack(body: bytes) -> None:
    """Another implementation gives the same document."""
    read = _plain(unpack(bytearray(body)))
    assert repr(_plain(msgpack.unpackb(body, strict_map_key=False))) == repr(read)


def read_file(body: bytes) -> None:
    """NumPy gives the same array."""
    read = read_npy(body)
    loaded = np.load(BytesIO(body), allow_pickle=False)
    assert (read.dtype, read.shape) == (loaded.dtype.newbyteorder("="), loaded.shape)
    assert read.tobytes() == loaded.astype(read.dtype).tobytes()


def read_gzip(body: bytes) -> None:
    """Python's gzip module gives the same bytes."""
    assert CODINGS["gzip"].decompress(body, MOST_BYTES) == gzip.decompress(body)


def read_zstd(body: bytes) -> None:
    """The library's decompressor for whole bodies gives the same bytes."""
    assert CODINGS["zstd"].decompress(body, MOST_BYTES) == zstd.decompress(body)


def read_request(body: bytes) -> None:
    """A request; the first byte selects its kind."""
    number, rest = body[0] if body else 0, bytearray(body[1:])
    document = unpack(rest) if number & 128 else JSON.read(rest)
    read_any_request(document, number & 127)


def read_any_request(document: Any, number: int) -> None:
    """Read ``document`` as the kind of request with this number, modulo the number of kinds."""
    REQUESTS[number % len(REQUESTS)](document)


def _wide(digits: str) -> float:
    """An integer, or a float if it has more than 64 bits."""
    number = int(digits)
    return number if -(1 << 63) <= number < 1 << 64 else float(digits)


def _plain(value: Any) -> Any:
    """``value`` with views of the body replaced by bytes."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def _asking(kind: Any) -> list[Callable[[Any], object]]:
    return [partial(read_envelope, kind=kind, of_tape=of_tape) for of_tape in (False, True)]


REQUESTS: list[Callable[[Any], object]] = [
    *(read for kind in FIELDS for read in _asking(kind)),
    read_tape,
    read_tensor,
    read_timeout,
    partial(read_registration, references=References()),
]
DECODERS: dict[str, Callable[[bytes], None]] = {
    "json": read_json,
    "messagepack": read_messagepack,
    "npy": read_file,
    "gzip": read_gzip,
    "zstd": read_zstd,
    "request": read_request,
}


def decode(name: str, body: bytes) -> None:
    """Read ``body``; refusing it is also right."""
    with suppress(RequestError, Malformed):
        DECODERS[name](body)
