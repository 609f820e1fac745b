"""bfloat16: the upper half of a float32, which ``ml_dtypes`` adds to NumPy's dtypes.

Source: Intel, BFLOAT16 – Hardware Numerics Definition, 2018.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)

#: Bits of a significand, and the exponent of the smallest subnormal number.
_PRECISION, _LEAST_EXPONENT = 8, -133
#: Four digits tell its numbers apart.
_AFTER_THE_POINT = range(4)


def rounded(numbers: NDArray[np.float64]) -> NDArray[Any]:
    """The nearest bfloat16, ties to even.

    ``ml_dtypes`` converts by way of float32, and rounds twice: it is given what is exact.
    """
    _, exponents = np.frexp(numbers)
    unit = np.maximum(exponents - _PRECISION, _LEAST_EXPONENT)
    nearest: NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(numbers, -unit)), unit)
    return nearest.astype(BFLOAT16)


def shortest(number: Any) -> float:
    """The shortest decimal that reads back as the same bfloat16, which ``str`` is not."""
    wide = float(number)
    decimals = (float(f"{wide:.{digits}e}") for digits in _AFTER_THE_POINT)
    return next((short for short in decimals if BFLOAT16.type(short) == number), wide)
