"""Checks that arrays and scalars have the layout in memory that machine code takes for granted.

Sources: CPython, Common Object Structures; NumPy, Python Types and C-Structures.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from typing import Any

import ml_dtypes
import numpy as np

#: Places of functions in the table that NumPy gives to extensions, in this version of its ABI.
_FUNCTIONS = {"PyArray_GetNDArrayCVersion": 0, "PyArray_Scalar": 60, "PyArray_New": 93}
_ABI = 0x02000000
#: The flags of arrays in row-major order whose elements are aligned.
PLAIN = 0x0001 | 0x0100
#: The classes of scalars whose value lies after the object's header; of no other is it known.
NUMBERS: tuple[type[Any], ...] = (
    *(float, complex, np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16),
    *(np.uint32, np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128),
    ml_dtypes.bfloat16,
)


def is_known() -> bool:
    """True if objects have the layout that is taken for granted: of CPython as it is released."""
    plain = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_DEBUG")
    plain = plain and not sysconfig.get_config_var("Py_GIL_DISABLED")
    plain = plain and ctypes.sizeof(ctypes.c_void_p) == 8 and hasattr(np, "_core")
    return plain and _numpy_abi() == _ABI and _finds_values()


def array_api(name: str) -> int:
    """The address of a function of NumPy's interface for extensions.

    Source: NumPy, Array API; ``numpy/__multiarray_api.h``, whose numbers are part of its ABI.
    """
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    found = ctypes.c_void_p.from_address(table + 8 * _FUNCTIONS[name]).value
    assert found is not None
    return found


def _numpy_abi() -> int:
    version: int = ctypes.PYFUNCTYPE(ctypes.c_uint)(array_api("PyArray_GetNDArrayCVersion"))()
    return version


def _finds_values() -> bool:
    """True if elements and values are where they are sought."""
    for number in NUMBERS:
        dtype: np.dtype[Any] = np.dtype(number)
        value = number(5 - 2j if dtype.kind == "c" else 5)
        if ctypes.string_at(id(value) + 16, dtype.itemsize) != np.array(value, dtype).tobytes():
            return False
    x = np.arange(6.0).reshape(2, 3)
    at = ctypes.c_void_p.from_address(id(x) + 16).value
    flags = [ctypes.c_int.from_address(id(a) + 64).value & PLAIN for a in (x, x.T)]
    return at == x.ctypes.data and flags == [PLAIN, PLAIN & ~1]
