"""Read MessagePack documents without copying their raw bytes.

Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md. No
library returns raw bytes as views of the body and refuses duplicate keys; the documents around the
bytes are small.
"""

from __future__ import annotations

import struct
from typing import Any, NoReturn

import numpy as np

from gradwire_service.problems import RequestError
from gradwire_service.wire.shared import Body

#: Maximum nesting of a document; a value has at most 64.
MOST_LEVELS = 200
#: Maximum values read one by one; a byte of the body may take 60 in memory.
MOST_VALUES = 1_000_000
#: Lists of at least this many float64 are read at once.
_MANY = 16
#: Raw bytes of at least this size are moved to aligned addresses.
_LARGE_BYTES = 1 << 12
_ALIGNMENT = 8
_TAGGED_FLOATS = np.dtype([("tag", "u1"), ("number", ">f8")])

_FLOAT64 = 0xCB
_KEY_HINT = "keys of objects are strings"

_NUMBERS: dict[int, struct.Struct] = {
    0xCA: struct.Struct(">f"),
    _FLOAT64: struct.Struct(">d"),
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
#: Size of the length of strings, raw bytes, lists and objects, by tag.
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_LISTS = {0xDC: 2, 0xDD: 4}
_OBJECTS = {0xDE: 2, 0xDF: 4}


def unpack(body: Body, most_values: int = MOST_VALUES) -> Any:
    """The single value in ``body``; raw bytes are views of it.

    Large unaligned raw bytes are moved to an aligned address, over bytes already read, if ``body``
    is writable.

    Raises: ``RequestError`` (malformed_body) for truncated bodies, trailing bytes, duplicate or
    non-string keys, and extension types; (over_budget) for more than ``most_values``.
    """
    if not body:
        raise RequestError("malformed_body", "the body is empty", hint="send an object")
    reader = _Reader(body, most_values)
    try:
        value = reader.value(0)
    except (struct.error, IndexError):
        _refuse("the body is truncated")
    except UnicodeDecodeError:
        _refuse("a string is not UTF-8")
    if reader.at != len(body):
        _refuse(f"trailing bytes from byte {reader.at}")
    return value


def _refuse(detail: str, hint: str | None = None) -> NoReturn:
    raise RequestError("malformed_body", f"unsupported MessagePack: {detail}", hint=hint)


class _Reader:
    """Reads one body."""

    def __init__(self, body: Body, most_values: int) -> None:
        self._body = memoryview(body)
        self._end = len(body)
        self._most = self._left = most_values
        #: End of the last raw bytes; the bytes from there to ``at`` may be overwritten.
        self._free = 0
        self.at = 0

    def value(self, level: int) -> Any:
        """The value at the current position."""
        at = self.at
        tag = self._body[at]
        self.at = at + 1
        if tag < 0x80:
            return tag
        if tag >= 0xE0:
            return tag - 0x100
        if tag >= 0xC0:
            return self._long(tag, level)
        if tag >= 0xA0:
            return self._text(tag & 0x1F)
        if tag >= 0x90:
            return self._list(tag & 0x0F, level)
        return self._object(tag & 0x0F, level)

    def _long(self, tag: int, level: int) -> Any:
        """A value whose tag does not contain its length."""
        number = _NUMBERS.get(tag)
        if number is not None:
            (read,) = number.unpack_from(self._body, self.at)
            self.at += number.size
            return read
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _TEXTS:
            return self._text(self._length(_TEXTS[tag]))
        if tag in _BYTES:
            return self._raw(self._length(_BYTES[tag]))
        if tag in _LISTS:
            return self._list(self._length(_LISTS[tag]), level)
        if tag in _OBJECTS:
            return self._object(self._length(_OBJECTS[tag]), level)
        _refuse(f"an extension or unused type, {tag:#x} at byte {self.at - 1}")

    def _length(self, size: int) -> int:
        (length,) = _LENGTHS[size].unpack_from(self._body, self.at)
        self.at += size
        return int(length)

    def _text(self, length: int) -> str:
        start = self.at
        self.at = end = start + length
        if end > self._end:
            _refuse("the body is truncated")
        return str(self._body[start:end], "utf-8")

    def _raw(self, length: int) -> memoryview:
        start = self.at
        self.at = end = start + length
        if end > self._end:
            _refuse("the body is truncated")
        raw = self._body[start:end]
        if length < _LARGE_BYTES or self._body.readonly:
            self._free = self.at
            return raw
        back = np.frombuffer(raw, np.uint8).__array_interface__["data"][0] % _ALIGNMENT
        if back and back <= start - self._free:
            raw, unaligned = self._body[start - back : self.at - back], raw
            raw[:] = unaligned
        self._free = self.at
        return raw.toreadonly()

    def _list(self, length: int, level: int) -> list[Any]:
        if length >= _MANY and (floats := self._floats(length)) is not None:
            return floats
        self._check(length, level)
        value, inner = self.value, level + 1
        return [value(inner) for _ in range(length)]

    def _floats(self, length: int) -> list[Any] | None:
        """``length`` float64 in a row, read at once; None if other types are among them."""
        fits = self.at + length * _TAGGED_FLOATS.itemsize <= self._end
        if not fits or self._body[self.at] != _FLOAT64:
            return None
        read = np.frombuffer(self._body, _TAGGED_FLOATS, length, self.at)
        if (read["tag"] != _FLOAT64).any():
            return None
        self.at += read.nbytes
        numbers: list[Any] = read["number"].tolist()
        return numbers

    def _object(self, length: int, level: int) -> dict[str, Any]:
        self._check(2 * length, level)
        read: dict[str, Any] = {}
        body, value, inner = self._body, self.value, level + 1
        for _ in range(length):
            tag = body[self.at]
            if 0xA0 <= tag < 0xC0:  # nearly all keys are short
                self.at += 1
                key: Any = self._text(tag & 0x1F)
            else:
                key = value(inner)
                if type(key) is not str:
                    _refuse("a key is not a string", _KEY_HINT)
            if key in read:
                _refuse(f"duplicate key {key!r}")
            read[key] = value(inner)
        return read

    def _check(self, count: int, level: int) -> None:
        """Refuse more members than the remaining bytes can contain, and deep nesting."""
        if count > self._end - self.at:
            _refuse("the body is truncated")
        if level >= MOST_LEVELS:
            _refuse(f"it nests deeper than {MOST_LEVELS} levels")
        self._left -= 1 + count
        if self._left < 0:
            detail = f"the body has more than {self._most} values, not counting rows of float64"
            raise RequestError("over_budget", detail, hint="send arrays as raw bytes")
