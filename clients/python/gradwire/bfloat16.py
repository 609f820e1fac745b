"""bfloat16, which ``ml_dtypes`` adds to NumPy's dtypes, and which JAX and PyTorch have.

Without ``ml_dtypes``, arrays that are sent are pairs of bytes, with which NumPy computes nothing,
and those of answers are float32, which has every bfloat16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

NAME = "bfloat16"
_PAIRS: np.dtype[Any] = np.dtype([("low", np.uint8), ("high", np.uint8)])
try:
    import ml_dtypes
except ImportError:
    BFLOAT16 = _PAIRS
else:
    BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT16: np.dtype[Any] = np.dtype(np.float16)
FLOAT32: np.dtype[Any] = np.dtype(np.float32)
#: NumPy's letters for kinds of floating dtypes, where bfloat16 has ``V``, and of those with
#: derivatives.
FLOATING, INEXACT = "fV", "fVc"


def name_of(dtype: np.dtype[Any]) -> str:
    """The name of a dtype in the protocol."""
    return NAME if dtype == BFLOAT16 else dtype.name


def dtype_of(name: DTypeLike) -> np.dtype[Any]:
    """The dtype of a name, as NumPy reads it."""
    return BFLOAT16 if isinstance(name, str) and name == NAME else np.dtype(name)


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """An array of bfloat16 as float32, exactly; others as they are."""
    if array.dtype != BFLOAT16:
        return array
    wide = array.view("<u2").astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def computable(array: NDArray[Any]) -> NDArray[Any]:
    """An array with which NumPy computes: without ``ml_dtypes``, bfloat16 as float32."""
    return widened(array) if array.dtype == _PAIRS else array


def rounded(array: NDArray[Any]) -> NDArray[Any]:
    """The nearest bfloat16, ties to even; ``ml_dtypes`` rounds float64 twice."""
    numbers = np.asarray(widened(array), np.float64)
    _, exponents = np.frexp(numbers)
    unit = np.maximum(exponents - 8, -133)  # a significand has 8 bits
    nearest = np.ldexp(np.rint(np.ldexp(numbers, -unit)), unit)
    halves = np.asarray(nearest, np.float32).view(np.uint32) >> 16
    return np.asarray(halves, "<u2").view(BFLOAT16)


def shortest(array: NDArray[Any]) -> NDArray[np.float64]:
    """The decimals in fewest digits that are read as the same bfloat16."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = wide = widened(array).astype(np.float64)
        for digits in (3, 2, 1, 0):  # after the first: four tell all numbers apart
            short = np.char.mod(f"%.{digits}e", wide).astype(np.float64)
            same = rounded(short).view("<u2") == array.view("<u2")
            found = np.where(same, short, found)
    return found


def in_place_of(kinds: Sequence[Any]) -> list[Any]:
    """Dtypes and Python's types with one of NumPy's in place of bfloat16, which promotes equally.

    That is float16, or float32 beside float16. The rules of ``ml_dtypes`` are others: with a
    Python float, they give float32.
    """
    stand_in = FLOAT32 if FLOAT16 in kinds else FLOAT16
    return [stand_in if kind == BFLOAT16 else kind for kind in kinds]


def promoted(found: np.dtype[Any], kinds: Sequence[Any]) -> np.dtype[Any]:
    """The dtype of a result for the one that NumPy found ``in_place_of`` these."""
    is_own = found == FLOAT16 and BFLOAT16 in kinds and FLOAT16 not in kinds
    return BFLOAT16 if is_own else found


def result_type(*kinds: Any) -> np.dtype[Any]:
    """The dtype to which dtypes and Python's numbers promote, as ``numpy.result_type``."""
    return promoted(np.result_type(*in_place_of(kinds)), kinds)


def can_cast(given: Any, to: Any, casting: Any = "safe") -> bool:
    """True if a dtype may be converted to another, as ``numpy.can_cast``."""
    given, to = in_place_of((given, to))
    return np.can_cast(given, to, casting)
