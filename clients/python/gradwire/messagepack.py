"""MessagePack with NumPy arrays: encode and decode documents.

An array is written as ``{"dtype", "shape", "data"}``, where ``data`` is its bytes, little-endian
and in C order, and such an object is read as an array. No bytes of an array are copied but into
the body, and from it into the array's own memory.

Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md. Extension
types are not read: the protocol has none.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import BFLOAT16, NAME, computable, name_of
from gradwire.hidden import check_hides_nothing

#: The dtypes of the protocol.
DTYPES: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "float16 float32 float64 complex64 complex128"
    ).split()
} | {NAME: BFLOAT16}

#: Deepest nesting that is decoded.
MOST_LEVELS = 200

#: Returns an array's reference, or ``None`` to write the array itself.
Refer: TypeAlias = Callable[[NDArray[Any]], str | None]

_FLOAT64 = struct.Struct(">Bd")
_INTEGERS = (
    # least, most, tag, and how many bytes
    (-(1 << 7), -1, 0xD0, struct.Struct(">Bb")),
    (0, (1 << 8) - 1, 0xCC, struct.Struct(">BB")),
    (-(1 << 15), -1, 0xD1, struct.Struct(">Bh")),
    (0, (1 << 16) - 1, 0xCD, struct.Struct(">BH")),
    (-(1 << 31), -1, 0xD2, struct.Struct(">Bi")),
    (0, (1 << 32) - 1, 0xCE, struct.Struct(">BI")),
    (-(1 << 63), -1, 0xD3, struct.Struct(">Bq")),
    (0, (1 << 64) - 1, 0xCF, struct.Struct(">BQ")),
)
#: Tags of values with a length, by the number of bytes of the length.
_LONG = {1: struct.Struct(">BB"), 2: struct.Struct(">BH"), 4: struct.Struct(">BI")}
_TEXT_TAGS = {1: 0xD9, 2: 0xDA, 4: 0xDB}
_BYTES_TAGS = {1: 0xC4, 2: 0xC5, 4: 0xC6}
_LIST_TAGS = {2: 0xDC, 4: 0xDD}
_OBJECT_TAGS = {2: 0xDE, 4: 0xDF}

_NUMBERS = {
    0xCA: struct.Struct(">f"),
    0xCB: struct.Struct(">d"),
    0xCC: struct.Struct(">B"),
    0xCD: struct.Struct(">H"),
    0xCE: struct.Struct(">I"),
    0xCF: struct.Struct(">Q"),
    0xD0: struct.Struct(">b"),
    0xD1: struct.Struct(">h"),
    0xD2: struct.Struct(">i"),
    0xD3: struct.Struct(">q"),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTHS = {1: struct.Struct(">B"), 2: struct.Struct(">H"), 4: struct.Struct(">I")}
_TEXTS, _BYTES = frozenset(_TEXT_TAGS.values()), frozenset(_BYTES_TAGS.values())
_LISTS = frozenset(_LIST_TAGS.values())
#: Layouts of what follows a tag: a number, or a length.
_LAYOUTS = _NUMBERS | {
    tag: _LENGTHS[size]
    for tags in (_TEXT_TAGS, _BYTES_TAGS, _LIST_TAGS, _OBJECT_TAGS)
    for size, tag in tags.items()
}
#: The dtypes of bytes that are arrays.
_WRITTEN = {name: dtype.newbyteorder("<") for name, dtype in DTYPES.items()}


def pack(document: Any, refer: Refer | None = None) -> bytes:
    """Encode a document of values, arrays, lists, and mappings with string keys.

    What ``refer`` has a name for is written as ``{"ref": name}``.

    Raises: ``TypeError`` for what is none of these, ``ValueError`` for numbers that are too large.
    """
    writer = _Packer(refer)
    writer.value(document)
    return b"".join(writer.pieces)


def unpack(body: bytes, *, to_compute: bool = False) -> Any:
    """The document in a body, its arrays writable; ``ValueError`` where there is none.

    With arrays ``to_compute`` with, those of bfloat16 are float32 if NumPy lacks that dtype.
    """
    reader = _Reader(body, computable if to_compute else np.asarray)
    try:
        document = reader.value(0)
    except (struct.error, IndexError):
        raise ValueError("the body is cut short") from None
    if reader.at != len(body):
        raise ValueError(f"trailing bytes after the document, from byte {reader.at}")
    return document


class _Packer:
    """The pieces of a body: bytes, and arrays whose memory is written as it is."""

    def __init__(self, refer: Refer | None = None) -> None:
        self.pieces: list[Any] = []
        self._put = self.pieces.append
        self._refer = refer

    def value(self, value: Any) -> None:
        """Write one value."""
        kind = type(value)
        if kind is str:
            self._put(_text(value) if len(value) < 64 else _long_text(value))
        elif kind is float:
            self._put(_FLOAT64.pack(0xCB, value))
        elif value is None:
            self._put(b"\xc0")
        elif kind is bool:
            self._put(b"\xc3" if value else b"\xc2")
        elif kind is int:
            self._put(_integer(value))
        elif kind is dict:
            self._put(_head(len(value), _OBJECT_TAGS, 0x80, 16))
            for name, item in value.items():
                if type(name) is not str:
                    raise TypeError(f"a document has the key {name!r}: expected a string")
                self._put(_text(name))
                self.value(item)
        elif kind is list or kind is tuple:
            self._put(_head(len(value), _LIST_TAGS, 0x90, 16))
            for item in value:
                self.value(item)
        elif kind is np.ndarray:
            self._array(value)
        else:
            self.value(_plain(value))

    def _array(self, array: NDArray[Any]) -> None:
        head, dtype = _array_head(array.dtype, array.shape)
        little = np.ascontiguousarray(array, dtype)
        ref = None if self._refer is None else self._refer(little)
        if ref is not None:
            self.value({"ref": ref})
        else:
            self._put(head)
            self._put(little.reshape(-1).view(np.uint8))  # bfloat16 is no buffer by itself


def _plain(value: Any) -> Any:
    """A value of another type as one of those that are written."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        check_hides_nothing(value, "an array")
        return value.view(np.ndarray)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return list(value)
    for plain in (str, float, int):
        if isinstance(value, plain):
            return plain(value)
    raise TypeError(f"a document cannot contain a value of type {type(value).__name__}")


@lru_cache(maxsize=1024)
def _array_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[bytes, np.dtype[Any]]:
    """All of an array but its bytes, and the dtype of these."""
    name = name_of(dtype)
    if name not in DTYPES:
        raise TypeError(f"a document cannot contain an array of dtype {dtype}")
    size = dtype.itemsize
    for length in shape:
        size *= length
    parts = b"".join((b"\x83", _text("dtype"), _text(name), _text("shape"), pack(shape)))
    return parts + _text("data") + _head(size, _BYTES_TAGS), dtype.newbyteorder("<")


@lru_cache(maxsize=4096)
def _text(text: str) -> bytes:
    return _long_text(text)


def _long_text(text: str) -> bytes:
    encoded = text.encode()
    return _head(len(encoded), _TEXT_TAGS, 0xA0, 32) + encoded


def _head(length: int, tags: Mapping[int, int], fixed: int = 0, below: int = 0) -> bytes:
    """The tag and length of a value with a length."""
    if length < below:
        return bytes((fixed | length,))
    for size, tag in tags.items():
        if length < 1 << 8 * size:
            return _LONG[size].pack(tag, length)
    raise ValueError(f"a part of a document has {length} bytes or members, at most 4294967295 fit")


def _integer(value: int) -> bytes:
    if -32 <= value < 128:
        return bytes((value & 0xFF,))
    for least, most, tag, layout in _INTEGERS:
        if least <= value <= most:
            return layout.pack(tag, value)
    raise ValueError(f"{value} has more than 64 bits")


class _Reader:
    """A body and the position of the next value."""

    def __init__(self, body: bytes, read: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        self._body = body
        self._read = read
        self._end = len(body)
        self.at = 0

    def value(self, level: int) -> Any:
        """The value that begins here."""
        at = self.at
        tag = self._body[at]
        self.at = at + 1
        if tag < 0x80:
            return tag
        if 0xA0 <= tag < 0xC0:
            return self._text(tag & 0x1F)
        if tag >= 0xE0:
            return tag - 0x100
        if tag < 0x90:
            return self._object(tag & 0x0F, level)
        if tag < 0xA0:
            return self._list(tag & 0x0F, level)
        return self._long(tag, level)

    def _long(self, tag: int, level: int) -> Any:
        """A value whose tag does not hold its length."""
        layout = _LAYOUTS.get(tag)
        if layout is None:
            if tag in _CONSTANTS:
                return _CONSTANTS[tag]
            raise ValueError(f"an extension or unused type, {tag:#x} at byte {self.at - 1}")
        (read,) = layout.unpack_from(self._body, self.at)
        self.at += layout.size
        if tag in _NUMBERS:
            return read
        if tag in _BYTES:
            return self._raw(read)
        if tag in _TEXTS:
            return self._text(read)
        return self._list(read, level) if tag in _LISTS else self._object(read, level)

    def _text(self, length: int) -> str:
        start = self.at
        self.at = end = start + length
        if end > self._end:
            raise ValueError("the body is cut short")
        return str(self._body[start:end], "utf-8")

    def _raw(self, length: int) -> memoryview:
        start = self.at
        self.at = end = start + length
        if end > self._end:
            raise ValueError("the body is cut short")
        return memoryview(self._body)[start:end]

    def _list(self, length: int, level: int) -> list[Any]:
        self._check(length, level)
        value, inner = self.value, level + 1
        return [value(inner) for _ in range(length)]

    def _object(self, length: int, level: int) -> Any:
        self._check(length, level)
        body, value, inner = self._body, self.value, level + 1
        read: dict[str, Any] = {}
        for _ in range(length):
            tag = body[self.at]
            if 0xA0 <= tag < 0xC0:  # nearly all names are short
                self.at += 1
                name = self._text(tag & 0x1F)
            else:
                name = value(inner)
            read[name] = value(inner)
        return self._read(_array(read)) if type(read.get("data")) is memoryview else read

    def _check(self, count: int, level: int) -> None:
        if count > self._end - self.at:
            raise ValueError("the body is cut short")
        if level >= MOST_LEVELS:
            raise ValueError(f"the document nests deeper than {MOST_LEVELS} levels")


def _array(parts: Mapping[str, Any]) -> NDArray[Any]:
    """The array of these parts, in memory of its own and in the machine's byte order."""
    name = parts["dtype"]
    raw = np.frombuffer(parts["data"], _WRITTEN[name])
    return raw.reshape(parts["shape"]).astype(DTYPES[name])
