"""Figures: numbers in few digits, and arrays in few words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import widened
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.stored import RemoteArray

#: The greatest number; greater norms are clipped to it.
GREATEST = float(np.finfo(np.float64).max)
#: Most elements that are listed, and characters of the longest list of them.
MOST_ELEMENTS = 6
LONGEST_LIST = 64
#: Most characters of a name in a line; longer ones are cut in the middle.
WIDEST = 44


def numbers(leaf: Any) -> NDArray[Any] | None:
    """A leaf's numbers, those of a sparse array without its zeros; none that are not here."""
    if isinstance(leaf, RemoteArray):
        return None
    if isinstance(leaf, SparseArray):
        return coalesced(leaf).values
    array = widened(np.asarray(leaf.values if isinstance(leaf, RaggedArray) else leaf))
    return array if array.dtype.kind in "biufc" else None


def sizes(values: NDArray[Any]) -> NDArray[np.float64]:
    """Absolute values as float64, which those of int8, float16 and complex numbers fit in."""
    with np.errstate(over="ignore", invalid="ignore"):  # there may be NaN that signal
        wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
        found: NDArray[np.float64] = np.minimum(np.abs(wide), GREATEST)
    return found


def coalesced(array: SparseArray) -> SparseArray:
    """The same array with sorted, unique indices."""
    given = widened(array.values)
    if len(array.indices) == 0:
        return SparseArray(array.indices, given, array.shape)
    indices, at = np.unique(array.indices, axis=0, return_inverse=True)
    values = np.zeros((len(indices), *given.shape[1:]), given.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # a sum that is not finite is shown as such
        np.add.at(values, at.ravel(), given)
    return SparseArray(indices, values, array.shape)


def digits(number: Any, precision: int = 4) -> str:
    """A number in few digits: ``0.2826``, ``1.235e-5``, ``12346``, ``1.2+0.5j``."""
    if isinstance(number, np.ndarray):
        number = number[()]
    if isinstance(number, (bool, np.bool_)):
        return str(bool(number))
    if isinstance(number, (int, np.integer)):
        return f"{int(number):.{precision - 1}e}" if abs(int(number)) >= 10**15 else f"{number}"
    if isinstance(number, (complex, np.complexfloating)):
        sign = "-" if number.imag < 0 else "+"
        return f"{digits(number.real, precision)}{sign}{digits(abs(number.imag), precision)}j"
    real = float(number) + 0.0  # without the sign of zero
    if 10**precision <= abs(real) < 1e6:
        return f"{real:.0f}"
    text = f"{real:.{precision}g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else text


def brief(leaf: Any) -> str:
    """A leaf in a few characters: its elements, or its extent."""
    if isinstance(leaf, RemoteArray):
        return "with the service"
    if numbers(leaf) is None:
        return cut(repr(leaf))
    if not isinstance(leaf, (SparseArray, RaggedArray)) and np.size(leaf) <= MOST_ELEMENTS:
        listed = _listed(np.asarray(leaf))
        if len(listed) <= LONGEST_LIST:
            return listed
    return extent(leaf)


def extent(leaf: Any) -> str:
    """Least, mean and greatest element, and non-finite ones: ``0.1 … 0.9, mean 0.4``.

    Of complex elements, their absolute values.
    """
    values = numbers(leaf)
    assert values is not None
    zeros = math.prod(leaf.shape) - values.size if isinstance(leaf, SparseArray) else 0
    finite = values[np.isfinite(values)]
    real = sizes(finite) if finite.dtype.kind == "c" else finite.astype(np.float64)
    nonfinite = values.size - real.size
    parts = [f"{nonfinite:,} not finite"] if nonfinite else []
    if real.size + zeros:
        ends = real if real.size and not zeros else np.append(real, 0.0)
        least, most = float(ends.min()), float(ends.max())
        largest = max(-least, most) or 1.0
        mean = float((real / largest).sum()) / (real.size + zeros) * largest  # without overflow
        same = "all " if real.size + zeros > 1 and not nonfinite else ""
        range_ = f"{digits(least, 3)} … {digits(most, 3)}, mean {digits(mean, 3)}"
        range_ = range_ if least < most else same + digits(least, 3)
        parts.insert(0, f"|·| {range_}" if values.dtype.kind == "c" else range_)
    return ", ".join(parts) or "empty"


def norm(values: NDArray[Any]) -> float:
    """The square root of the sum of squares, at most the greatest number."""
    absolute = sizes(values)
    largest = float(absolute.max(initial=0.0)) or 1.0
    return min(float(np.sqrt(np.square(absolute / largest).sum())) * largest, GREATEST)


def cut(words: str, width: int = WIDEST) -> str:
    """Text of at most this width, cut in the middle if necessary."""
    if len(words) <= width:
        return words
    ahead = width // 2
    return f"{words[:ahead]}…{words[len(words) - (width - ahead - 1) :]}"


def _listed(array: NDArray[Any]) -> str:
    """All elements of a small array: ``[[1, 2], [3, 4]]``."""
    return digits(array) if array.ndim == 0 else f"[{', '.join(map(_listed, array))}]"
