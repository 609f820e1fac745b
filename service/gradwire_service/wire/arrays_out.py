"""Write documents that contain NumPy arrays as JSON."""

from __future__ import annotations

import binascii
import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import orjson
from gradwire_engine.tape import nested_lists
from numpy.typing import NDArray

from gradwire_service.allocation import check_memory
from gradwire_service.wire.bfloat16 import BFLOAT16, shortest
from gradwire_service.wire.scanning import contains
from gradwire_service.wire.shared import Body

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY
#: Dtype characters that orjson writes with the shortest digits that round-trip.
_NATIVE = frozenset("?bBhHiIlLqQfd")
#: Types of numbers in two bytes: orjson writes float16 as float32, and bfloat16 not at all.
_HALVES = frozenset((np.float16, BFLOAT16.type))
#: Maximum characters of a number, with its comma, by item size in bytes.
_MOST_DIGITS = {1: 6, 2: 10, 4: 15, 8: 25, 16: 50}
#: Characters of a list's brackets and comma, and bytes that orjson (3.13) allocates for it (113
#: measured); twice, since a complex array has two parts.
_LIST_DIGITS, _LIST_BYTES = 2 * 3, 2 * 128
#: Numbers per piece, where a list counts as eight: in larger documents, arrays of at least
#: ``_LIFTED`` numbers are written separately.
_PIECE, _LIFTED, _NUMBERS_OF_LIST = 1 << 17, 1 << 12, 8
#: Documents with fewer numbers are written without checking for free memory.
_FEW = 1 << 13
#: Memory that orjson needs for a piece.
_PIECE_BYTES = 16 << 20
#: Divisible by 3, so that the base64 of the pieces can be joined.
_BASE64_BYTES = 3 << 18


def write_json(document: Mapping[str, Any], *, as_bytes: bool = False) -> list[Body]:
    """Write ``document``, in pieces; NaN and infinities become the protocol's strings.

    Raises: ``MemoryError``.
    """
    numbers, has_halves = _survey(document)
    if numbers <= _PIECE:
        room = _room(document) if numbers > _FEW else 0
        return [_written(document, room, as_bytes=as_bytes, has_halves=has_halves)]
    mark = secrets.token_hex(16)  # a string that no document contains
    lifted: list[NDArray[Any]] = []

    def lift(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or _numbers(value.shape) < _LIFTED:
            return value
        if as_bytes:
            lifted.append(value)
            return _raw(value, mark)
        if value.dtype.kind == "c":
            return {"re": lift(value.real), "im": lift(value.imag)}
        lifted.append(value)
        return mark

    rest = _map(document, lift)
    text = _written(rest, _room(rest), as_bytes=as_bytes, has_halves=has_halves)
    texts = text.split(b'"%s"' % mark.encode())
    pieces: list[Body] = [texts[0]]
    for array, text in zip(lifted, texts[1:], strict=True):
        pieces += _base64(array) if as_bytes else _lists(array)
        pieces.append(text)
    return pieces


def _written(document: Any, room: int, *, as_bytes: bool, has_halves: bool) -> bytes:
    """A document in one piece, for which orjson needs at most ``room`` bytes.

    orjson writes a non-finite number as ``null``: only the arrays of a body with a null are
    checked.
    """
    check_memory(room)
    if as_bytes:
        return orjson.dumps(_map(document, raw_json), option=_OPTIONS)
    if has_halves:
        document = _map(document, _shortened)
    body = orjson.dumps(document, default=native, option=_OPTIONS)
    if not contains(body, b"null", 1):
        return body
    del body
    document = _map(document, finite)
    check_memory(room)
    return orjson.dumps(document, option=_OPTIONS)


def _lists(array: NDArray[Any]) -> Iterator[Body]:
    """An array as nested lists, a block of rows at a time."""
    rows = len(array)
    each = _numbers(array.shape[1:])
    yield b"["
    if each > _PIECE:
        for number in range(rows):
            if number:
                yield b","
            yield from _lists(array[number])
    else:
        step = _PIECE // max(each, 1)
        for start in range(0, rows, step):
            if start:
                yield b","
            check_memory(_PIECE_BYTES)
            text = orjson.dumps(finite(array[start : start + step]), option=_OPTIONS)
            yield memoryview(text)[1:-1]
    yield b"]"


def _base64(array: NDArray[Any]) -> Iterator[Body]:
    """An array's little-endian bytes in C order as a string of base64, in chunks."""
    contiguous = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    raw = contiguous.reshape(-1).view(np.uint8).data
    yield b'"'
    for start in range(0, len(raw), _BASE64_BYTES):
        yield binascii.b2a_base64(raw[start : start + _BASE64_BYTES], newline=False)
    yield b'"'


def _numbers(shape: tuple[int, ...]) -> int:
    """The cost of writing an array, in numbers."""
    return math.prod(shape) + _NUMBERS_OF_LIST * nested_lists(shape)


def _survey(document: Any) -> tuple[int, bool]:
    """The cost of a document in numbers, and whether it has numbers in two bytes."""
    numbers, has_halves = 0, False
    for value in _arrays(document):
        numbers += value.size if value.ndim < 2 else _numbers(value.shape)
        has_halves |= value.dtype.type in _HALVES
    return numbers, has_halves


def _room(document: Any) -> int:
    """An upper bound of the bytes that orjson needs to write a document."""
    most_digits = copied_bytes = 0
    for value in _arrays(document):
        lists = nested_lists(value.shape)
        most_digits += value.size * _MOST_DIGITS[value.dtype.itemsize] + _LIST_DIGITS * lists
        copied_bytes += _LIST_BYTES * lists
        if value.dtype.char not in _NATIVE or not value.flags.c_contiguous:
            copied_bytes += 2 * value.nbytes
    return (1 << most_digits.bit_length()) + copied_bytes  # its buffer doubles


def _arrays(document: Any) -> list[Any]:
    """All arrays, and numbers in two bytes, of a document."""
    found: list[Any] = []
    pending: list[Any] = [document]
    for value in pending:  # grows during the loop
        kind = type(value)
        if kind is np.ndarray or kind in _HALVES:
            found.append(value)
        elif kind is dict:
            pending += value.values()
        elif kind is list or kind is tuple:
            pending += value
    return found


def _map(value: Any, write: Callable[[Any], Any]) -> Any:
    """``value`` with every float and array in its nested dicts and lists replaced."""
    kind = type(value)
    if kind is dict:
        return {name: _map(item, write) for name, item in value.items()}
    if kind is list or kind is tuple:
        return [_map(item, write) for item in value]
    if kind is str or value is None or kind is int or kind is bool:
        return value
    return write(value)


def _shortened(value: Any) -> Any:
    """Numbers in two bytes in their shortest digits; anything else unchanged."""
    return native(value) if hasattr(value, "dtype") and value.dtype.type in _HALVES else value


def native(value: Any) -> Any:
    """A form of an array or number that orjson writes exactly, except for non-finite values."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return native(value[()])
        if value.dtype.char in _NATIVE:
            return value if value.flags.c_contiguous else np.ascontiguousarray(value)
        if value.dtype.kind == "c":
            return {"re": native(value.real), "im": native(value.imag)}
        return _short(value)
    if type(value) in _HALVES:
        return _shortest(value)
    if isinstance(value, complex | np.complexfloating):
        return {"re": native(value.real), "im": native(value.imag)}
    return value


def finite(value: Any) -> Any:
    """Like ``native``, with strings for NaN and infinities."""
    value = native(value)
    if isinstance(value, dict):
        return {part: finite(number) for part, number in value.items()}
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or (keep := np.isfinite(value)).all():
            return value
        return _with_words(value, value[~keep].tolist())
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        return _word(float(value))
    return value


def _with_words(value: NDArray[Any], nonfinite: list[float]) -> orjson.Fragment:
    """The array's JSON, with the nulls replaced in order by ``nonfinite``."""
    pieces = orjson.dumps(value, option=_OPTIONS).split(b"null")
    written = [pieces[0]]
    for number, piece in zip(nonfinite, pieces[1:], strict=True):
        written.append(b'"' + _word(number).encode() + b'"')
        written.append(piece)
    return orjson.Fragment(b"".join(written))


def _word(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _short(value: NDArray[Any]) -> NDArray[np.float64]:
    """An array of numbers in two bytes as the float64 of their shortest decimals."""
    bits = np.ascontiguousarray(value).view(np.uint16)
    distinct, places = np.unique(bits, return_inverse=True)
    table = np.array([_shortest(number) for number in distinct.view(value.dtype)])
    return table[places.reshape(value.shape)]


def _shortest(number: Any) -> float:
    """The shortest decimal that reads back as the same number in two bytes."""
    return shortest(number) if type(number) is BFLOAT16.type else float(str(number))


def raw_json(value: Any) -> Any:
    """An array as ``{"dtype", "shape", "base64"}``: its little-endian C-order bytes.

    Python's own floats are metadata of the answer and stay numbers.
    """
    if type(value) is float:
        return finite(value)
    array = np.asarray(value)
    text = b"".join(_base64(array))
    return _raw(array, orjson.Fragment(text))


def _raw(array: NDArray[Any], text: Any) -> dict[str, Any]:
    return {"dtype": array.dtype.name, "shape": list(array.shape), "base64": text}
