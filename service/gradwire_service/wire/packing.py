"""Write documents as MessagePack, in pieces; large arrays are not copied.

Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire_service.wire.arrays_out import finite
from gradwire_service.wire.shared import Body

#: Arrays of at least this size are pieces of their own, not copied.
_LARGE_BYTES = 1 << 14
_LARGEST_LENGTH = (1 << 32) - 1
#: Names that are longer are a user's, and seldom come again.
_LONGEST_NAME = 32

_FLOAT64 = struct.Struct(">Bd")
_INTEGERS = (
    # minimum, maximum, tag, layout
    (-(1 << 7), -1, 0xD0, struct.Struct(">Bb")),
    (0, (1 << 8) - 1, 0xCC, struct.Struct(">BB")),
    (-(1 << 15), -1, 0xD1, struct.Struct(">Bh")),
    (0, (1 << 16) - 1, 0xCD, struct.Struct(">BH")),
    (-(1 << 31), -1, 0xD2, struct.Struct(">Bi")),
    (0, (1 << 32) - 1, 0xCE, struct.Struct(">BI")),
    (-(1 << 63), -1, 0xD3, struct.Struct(">Bq")),
    (0, (1 << 64) - 1, 0xCF, struct.Struct(">BQ")),
)
_BYTES_TAGS = {1: 0xC4, 2: 0xC5, 4: 0xC6}
_LENGTHS = {1: struct.Struct(">BB"), 2: struct.Struct(">BH"), 4: struct.Struct(">BI")}


def pack(document: Mapping[str, Any], *, as_lists: bool = False) -> list[Body]:
    """``document`` in pieces; arrays are ``{"dtype", "shape", "data"}``, or nested lists.

    Python's own floats are metadata of the answer: NaN and infinities are strings there, in every
    encoding.
    """
    packer = _Packer(as_lists=as_lists)
    packer.value(document)
    return packer.pieces()


class _Packer:
    def __init__(self, *, as_lists: bool) -> None:
        self._as_lists = as_lists
        self._done: list[Body] = []
        self._open = bytearray()

    def pieces(self) -> list[Body]:
        """The pieces written so far."""
        return [*self._done, self._open] if self._open else self._done

    def value(self, value: Any) -> None:
        """Write one value."""
        kind = type(value)
        if kind is str:
            text = value.encode()
            self._head(len(text), 0xA0, 32, {1: 0xD9, 2: 0xDA, 4: 0xDB})
            self._open += text
        elif kind is dict:
            self._head(len(value), 0x80, 16, {2: 0xDE, 4: 0xDF})
            for name, item in value.items():
                self._open += _name(name) if len(name) <= _LONGEST_NAME else _written(name)
                self.value(item)
        elif kind is list or kind is tuple:
            self._head(len(value), 0x90, 16, {2: 0xDC, 4: 0xDD})
            for item in value:
                self.value(item)
        elif value is None:
            self._open.append(0xC0)
        elif kind is bool:
            self._open.append(0xC3 if value else 0xC2)
        elif kind is int:
            self._integer(value)
        elif kind is float:
            self._float(value)
        elif self._as_lists:
            self.value(_listed(value))
        else:
            self._array(np.asarray(value))

    def _head(self, length: int, fixed: int, below: int, tags: Mapping[int, int]) -> None:
        """Write the tag and length of a string, list or object."""
        if length < below:
            self._open.append(fixed | length)
            return
        for size, tag in tags.items():
            if length < 1 << 8 * size:
                self._open += _LENGTHS[size].pack(tag, length)
                return
        raise AssertionError("no answer has so many members")

    def _integer(self, value: int) -> None:
        if -32 <= value < 128:
            self._open.append(value & 0xFF)
            return
        for least, most, tag, layout in _INTEGERS:
            if least <= value <= most:
                self._open += layout.pack(tag, value)
                return
        self._float(float(value))

    def _float(self, value: float) -> None:
        written = finite(value)
        if written is value:
            self._open += _FLOAT64.pack(0xCB, value)
        else:
            self.value(written)

    def _array(self, array: NDArray[Any]) -> None:
        head, dtype = _array_head(array.dtype, array.shape)
        little = np.ascontiguousarray(array, dtype)
        self._open += head
        if little.nbytes < _LARGE_BYTES:
            self._open += little.tobytes()
        else:
            self._done += [self._open, little.reshape(-1).view(np.uint8).data]
            self._open = bytearray()


def _written(text: str) -> bytes:
    packer = _Packer(as_lists=False)
    packer.value(text)
    return bytes(packer.pieces()[0])


#: The names of members, of which answers have the same ones.
_name = lru_cache(maxsize=1024)(_written)


@lru_cache(maxsize=1024)
def _array_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[bytes, np.dtype[Any]]:
    """The bytes before an array's data, and the dtype of the data."""
    nbytes = dtype.itemsize * math.prod(shape)
    if nbytes > _LARGEST_LENGTH:
        raise AssertionError("limits keep arrays smaller")
    packer = _Packer(as_lists=False)
    packer.value({"dtype": dtype.name, "shape": shape, "data": None})
    (written,) = packer.pieces()
    size, tag = next((size, tag) for size, tag in _BYTES_TAGS.items() if nbytes < 1 << 8 * size)
    head = bytes(written[:-1]) + _LENGTHS[size].pack(tag, nbytes)
    return head, dtype.newbyteorder("<")


def _listed(value: Any) -> Any:
    """An array as nested lists of Python numbers; a number as a JSON value."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind == "c":
            return {"re": _listed(value.real), "im": _listed(value.imag)}
        return value.tolist()
    return finite(value)
