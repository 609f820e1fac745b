"""bfloat16: the upper half of a float32, in which values may be sent; they are read as float32.

Source: Intel, BFLOAT16 – Hardware Numerics Definition, 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How its bytes are read. It is no number to NumPy, so arrays of it cannot be computed with.
BFLOAT16: np.dtype[Any] = np.dtype([("bfloat16", np.uint16)])

#: Bits of a significand, and the exponent of the smallest subnormal number.
_PRECISION, _LEAST_EXPONENT = 8, -133


def widened(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The numbers with these bits."""
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest bfloat16, ties to even, as if exponents had no upper limit."""
    _, exponents = np.frexp(numbers)
    unit = np.maximum(exponents - _PRECISION, _LEAST_EXPONENT)
    nearest: NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(numbers, -unit)), unit)
    return nearest
