"""bfloat16: arrays of two bytes a number, which are sent as they are and which the service widens.

NumPy has no such dtype. ``ml_dtypes`` adds one, which JAX uses; PyTorch's tensors become arrays of
pairs of bytes, with which NumPy computes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How arrays are sent, little-endian.
BFLOAT16: np.dtype[Any] = np.dtype([("low", np.uint8), ("high", np.uint8)])
_FLOAT32 = np.dtype(np.float32)


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """True for the dtype of ``ml_dtypes`` and for that of the arrays that are sent."""
    return dtype.kind == "V" and (dtype == BFLOAT16 or dtype.name == "bfloat16")


def computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that a program has for one: float32 for bfloat16."""
    return _FLOAT32 if is_bfloat16(dtype) else dtype


def packed(array: NDArray[Any]) -> NDArray[Any]:
    """An array of bfloat16, or of their bits as 16-bit integers, as it is sent."""
    return array.view(np.uint16).astype("<u2", copy=False).view(BFLOAT16)


def widened(array: NDArray[Any]) -> NDArray[np.float32]:
    """An array of bfloat16 as float32, exactly."""
    wide = packed(array).view("<u2").astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def rounded(array: NDArray[Any]) -> NDArray[Any]:
    """The nearest bfloat16 of floats, ties to even, as they are sent."""
    numbers = np.asarray(array, np.float64)
    _, exponents = np.frexp(numbers)
    unit = np.maximum(exponents - 8, -133)  # a significand has 8 bits
    nearest = np.ldexp(np.rint(np.ldexp(numbers, -unit)), unit)
    halves = np.asarray(nearest, np.float32).view(np.uint32) >> 16
    return packed(np.asarray(halves, np.uint16))
