"""Convert JSON numbers, nested lists of them and raw bytes to arrays."""

from __future__ import annotations

import binascii
import math
import sys
from array import array
from functools import lru_cache
from itertools import chain, compress, repeat
from operator import indexOf, is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire_service.wire.bfloat16 import BFLOAT16, rounded

#: NumPy's limit on dimensions, and ours on nesting.
MAX_DEPTH = 64
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
DTYPES = {
    name: np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
        "float16 bfloat16 float32 float64 complex64 complex128"
    ).split()
}
FLOAT64 = DTYPES["float64"]

Dtype = np.dtype[Any]
Array = NDArray[Any]

_NUMBERS = frozenset((float, int))
_REALS = frozenset((float, int, bool))
_INTEGERS = frozenset((int, bool))
_ELEMENTS = frozenset((float, int, bool, str))
_NESTED = _ELEMENTS | {list}


class Malformed(Exception):
    """An invalid value; callers complete its path as the error propagates."""

    code = "malformed_tensor"

    def __init__(self, detail: str, *path: str | int, hint: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self._path = list(path)

    def prepend_path(self, name: str | int) -> None:
        """Prepend a member of the enclosing value to the path."""
        self._path.insert(0, name)

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer (RFC 6901)."""
        escaped = (str(name).replace("~", "~0").replace("/", "~1") for name in self._path)
        return "".join("/" + name for name in escaped)


class ArrayMismatch(Malformed):
    """Valid arrays that differ in number or names from those they belong to."""

    code = "invalid_request"


def dtype_named(name: Any) -> Dtype | None:
    """The dtype of this name; None for None."""
    if name is None:
        return None
    if type(name) is str and (dtype := DTYPES.get(name)) is not None:
        return dtype
    raise Malformed("unknown dtype", "dtype", hint=f"one of {', '.join(DTYPES)}")


def list_array(value: list[Any], dtype: Dtype | None = None) -> Array:
    """A list as an array.

    Raises: ``Malformed`` if it is ragged or too deep, or an element is not of ``dtype``.
    """
    read = array_or_none(value, dtype, strict=True)
    assert read is not None
    return read


def array_or_none(
    value: list[Any], dtype: Dtype | None = None, *, strict: bool = False
) -> Array | None:
    """A list as an array, or None if not all in it are numbers: then it is a nesting level.

    Booleans and number words count as numbers. Each level is checked once, in C.
    """
    shape = [len(value)]
    level: list[Any] = value
    while True:
        if (dtype is None or dtype is FLOAT64) and level and type(level[0]) in _NUMBERS:
            flat = _floats(level)
            if flat is not None:
                break
        kinds = set(map(type, level))
        lengths = set(map(len, level)) if kinds == {list} else ()
        if len(lengths) != 1:
            if kinds <= _ELEMENTS and (str not in kinds or _are_words(level)):
                flat = _flat_array(level, kinds, dtype, shape)
                break
            if strict or _holds_numbers_only(level):
                raise _first_mismatch(level, shape)
            return None
        if len(shape) == MAX_DEPTH:
            raise Malformed(f"lists nest deeper than {MAX_DEPTH} levels")
        shape.extend(lengths)
        level = list(chain.from_iterable(level))
    return flat if len(shape) == 1 else flat.reshape(shape)


def scalar_array(value: Any, dtype: Dtype | None) -> Array:
    """One number, boolean or number word as an array without dimensions."""
    kind = type(value)
    if not is_number(value):
        raise Malformed(f"{describe(value)} is not a number")
    return _flat_array([value], {kind}, dtype, []).reshape(())


def complex_array(re: Any, im: Any, dtype: Dtype | None) -> Array:
    """``re + i im``, part by part: a product with ``i`` would turn infinities into NaN."""
    dtype = DTYPES["complex128"] if dtype is None else dtype
    if dtype.kind != "c":
        raise Malformed("re and im make a complex64 or complex128", "dtype")
    part_dtype = DTYPES["float32" if dtype.itemsize == 8 else "float64"]
    parts = []
    for name, part in (("re", re), ("im", im)):
        try:
            read = list_array if type(part) is list else scalar_array
            parts.append(read(part, part_dtype))
        except Malformed as error:
            error.prepend_path(name)
            raise
    if parts[0].shape != parts[1].shape:
        raise Malformed(f"re has shape {parts[0].shape}, im {parts[1].shape}")
    whole = np.empty(parts[0].shape, dtype)
    whole.real, whole.imag = parts
    return whole


def raw_array(text: Any, name: str, dtype: Dtype, shape: Any) -> Array:
    """The array of little-endian C-order bytes, read in place."""
    if type(shape) is not list or any(type(n) is not int or n < 0 for n in shape):
        raise Malformed("a shape is a list of non-negative integers", "shape")
    check_rank(len(shape))
    as_they_are = name == "data" and type(text) in (bytes, memoryview)
    raw = text if as_they_are else _base64_bytes(text, name)
    needed = math.prod(shape) * dtype.itemsize
    if len(raw) != needed:
        wanted = f"{needed} bytes" if needed <= sys.maxsize else "more bytes than can exist"
        raise Malformed(f"{dtype.name} of this shape has {wanted}, got {len(raw)}", name)
    try:
        read = np.frombuffer(raw, little_endian(dtype)).reshape(shape)
    except ValueError:
        raise Malformed("no array can have this shape", "shape") from None
    if dtype.kind == "b" and read.size and read.view(np.uint8).max() > 1:
        raise Malformed("the bytes of a bool are 0 and 1", name)
    return read.astype(dtype, copy=not read.flags.aligned)


@lru_cache(maxsize=64)
def little_endian(dtype: Dtype) -> Dtype:
    """The dtype of the bytes that are sent and stored."""
    return dtype.newbyteorder("<")


def check_rank(rank: int) -> None:
    """Raises: ``Malformed`` for more axes than an array can have."""
    if rank > MAX_DEPTH:
        raise Malformed(f"an array has at most {MAX_DEPTH} axes", "shape")


def is_number(value: Any) -> bool:
    """True if a JSON value is a number, a boolean or one of the number words."""
    kind = type(value)
    return kind in _REALS or (kind is str and value in WORDS)


def describe(value: Any) -> str:
    """The type of a JSON value, for error messages."""
    words: dict[type, str] = {
        str: "a string",
        bool: "a boolean",
        list: "a list",
        dict: "an object",
        memoryview: "raw bytes",
    }
    if value is None:
        return "null"
    return words.get(type(value), "a number")


def _base64_bytes(text: Any, name: str) -> bytes:
    if name == "data":
        hint = "in JSON, send base64 in the field base64"
        raise Malformed("data must be raw bytes, which only MessagePack has", name, hint=hint)
    if type(text) is not str:
        raise Malformed(f"base64 must be a string, got {describe(text)}", name)
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        raise Malformed("invalid base64", name) from None


def _floats(flat: list[Any]) -> Array | None:
    """Numbers as floats, checked and converted in one pass."""
    try:
        return np.frombuffer(array("d", flat))
    except TypeError:
        return None


def _flat_array(flat: list[Any], kinds: set[type], dtype: Dtype | None, shape: list[int]) -> Array:
    if dtype is None or dtype is FLOAT64:
        return np.array(flat, np.bool_ if dtype is None and kinds == {bool} else FLOAT64)
    if dtype.kind in "iu":
        return _integers(flat, kinds, dtype, shape)
    if dtype.kind == "b" and kinds != {bool}:
        for i, item in enumerate(flat):
            if item not in (0, 1):
                raise _malformed_at("a bool is 0, 1, true or false", i, shape)
    wide = np.array(flat, DTYPES["bool"] if dtype.kind == "b" else FLOAT64)
    with np.errstate(over="ignore"):
        narrow = rounded(wide) if dtype is BFLOAT16 else wide.astype(dtype, copy=False)
    if dtype.kind != "b" and dtype != DTYPES["complex128"]:
        lost = np.isinf(narrow) & np.isfinite(wide)
        if lost.any():
            detail = f"the number is too large for {dtype.name}"
            raise _malformed_at(detail, int(lost.argmax()), shape)
    return narrow


def _integers(flat: list[Any], kinds: set[type], dtype: Dtype, shape: list[int]) -> Array:
    """Integers, also those written as 3.0; each must be whole and in the dtype's range."""
    if not kinds <= _INTEGERS:
        for i, item in enumerate(flat):
            if type(item) is str or (type(item) is float and not item.is_integer()):
                raise _malformed_at(f"{dtype} needs a whole number", i, shape)
        flat = [int(item) for item in flat]
    try:
        return np.array(flat, dtype)
    except OverflowError:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        i = next(i for i, item in enumerate(flat) if not low <= item <= high)
        raise _malformed_at(f"out of range: {dtype} holds {low} to {high}", i, shape) from None


def _malformed_at(detail: str, flat_index: int, shape: list[int]) -> Malformed:
    return Malformed(detail, *(int(i) for i in np.unravel_index(flat_index, shape)))


def _holds_numbers_only(level: list[Any]) -> bool:
    """True if a list contains only numbers, at any depth; each level is checked in C."""
    while level:
        kinds = set(map(type, level))
        if not kinds <= _NESTED or (str in kinds and not _are_words(level)):
            return False
        inner = [item for item in level if type(item) is list] if list in kinds else []
        level = list(chain.from_iterable(inner))
    return True


def _are_words(level: list[Any]) -> bool:
    """True if all strings on a level are number words."""
    are_texts = map(is_, map(type, level), repeat(str))
    return WORDS.keys() >= set(compress(level, are_texts))


def _first_mismatch(level: list[Any], shape: list[int]) -> Malformed:
    """The error on a level of a list: a non-number, or a list of another length."""
    kinds = set(map(type, level))
    places = [indexOf(map(type, level), kind) for kind in kinds - _NESTED]
    if str in kinds and not _are_words(level):
        texts = (i for i, item in enumerate(level) if type(item) is str and item not in WORDS)
        places.append(next(texts))
    if places:
        i = min(places)
        return _malformed_at(f"{describe(level[i])} is not a number", i, shape)
    if type(level[0]) is not list:
        i = indexOf(map(type, level), list)
    else:
        first = len(level[0])
        i = next(i for i, item in enumerate(level) if type(item) is not list or len(item) != first)
    ragged = _malformed_at(
        "the list is ragged: this differs in length from those before it", i, shape
    )
    ragged.hint = 'lists on one level have the same length; send separate arrays as {"value": …}'
    return ragged
