"""Read and write ``.npy`` files. Source: NumPy's documentation, numpy.lib.format, versions 1 to 3.

Headers are parsed only for dtype, order and shape; nothing is unpickled.
"""

from __future__ import annotations

import ast
from io import BytesIO
from typing import Any

import numpy as np

from gradwire_service.wire.arrays_in import DTYPES, Array, Malformed, raw_array
from gradwire_service.wire.shared import Body

MEDIA_TYPE = "application/x-npy"

_MAGIC = b"\x93NUMPY"
#: Size of the header's length in bytes, and encoding of the header, by format version.
_VERSIONS = {b"\1\0": (2, "latin-1"), b"\2\0": (4, "latin-1"), b"\3\0": (4, "utf-8")}
#: Longest header; no supported array needs more.
_MOST_HEADER_BYTES = 10_000
_FIELDS = {"descr", "fortran_order", "shape"}
#: By the array protocol's names: kind and bytes. It has no bfloat16, whose name is any two bytes'.
_DTYPES = {dtype.str[1:]: dtype for dtype in DTYPES.values() if dtype.kind != "V"}


def read_npy(body: Body) -> Array:
    """The array of an ``.npy`` file, in C order and the machine's byte order.

    Little-endian arrays in C order are read in place.

    Raises: ``Malformed``.
    """
    header, start = _header(memoryview(body))
    descr, shape = header["descr"], header["shape"]
    dtype = _DTYPES.get(descr[1:]) if type(descr) is str and descr[:1] in {*"<>|"} else None
    if dtype is None:
        hint = f"one of {', '.join(DTYPES)}"
        raise Malformed("unsupported dtype", hint=hint)
    if type(header["fortran_order"]) is not bool or type(shape) is not tuple:
        raise Malformed("in the .npy header, fortran_order must be a boolean and shape a tuple")
    lengths = list(shape[::-1] if header["fortran_order"] else shape)
    array = raw_array(memoryview(body)[start:], "data", dtype, lengths)
    if descr[0] == ">":
        array = array.byteswap()
    return np.asarray(array.T, order="C") if header["fortran_order"] else array


def write_npy(array: Array) -> list[Body]:
    """An ``.npy`` file of version 1, in pieces."""
    little = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(little))
    return [header.getvalue(), little.reshape(-1).view(np.uint8).data]


def _header(file: memoryview) -> tuple[dict[str, Any], int]:
    """The header's fields, and where the elements begin."""
    if file[: len(_MAGIC)] != _MAGIC:
        raise Malformed("not an .npy file")
    start = len(_MAGIC) + 2
    version = bytes(file[len(_MAGIC) : start])
    if version not in _VERSIONS:
        raise Malformed("unsupported .npy version: expected 1.0, 2.0 or 3.0")
    width, encoding = _VERSIONS[version]
    start += width
    length = int.from_bytes(file[start - width : start], "little")
    if length > _MOST_HEADER_BYTES or len(file) < start + length:
        raise Malformed("the header of the .npy file is truncated or too long")
    try:
        text = bytes(file[start : start + length]).decode(encoding)
        fields = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        fields = None
    if type(fields) is not dict or fields.keys() != _FIELDS:
        raise Malformed("invalid .npy header")
    return fields, start + length
