"""Figures: numbers in few digits, and summary statistics of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.stored import StoredTensor

#: The greatest number; greater norms are clipped to it.
GREATEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary statistics of finite elements, or of their absolute values if complex."""

    size: int
    #: The number of NaN and infinite elements.
    nonfinite: int
    #: None if no element is finite.
    min: float | None
    mean: float | None
    max: float | None
    #: The square root of the sum of squares.
    norm: float
    is_complex: bool


def summary(leaf: Any) -> Summary | None:
    """Summary statistics of a leaf; ``None`` for a leaf without numbers."""
    values = numbers(leaf)
    if values is None:
        return None
    size = math.prod(leaf.shape) if isinstance(leaf, SparseArray) else values.size
    absent = size - values.size  # zeros, all of them
    is_complex = values.dtype.kind == "c"
    finite = np.isfinite(values)
    nonfinite = values.size - int(np.count_nonzero(finite))
    kept = values[finite] if nonfinite else values.ravel()
    real = sizes(kept) if is_complex else kept
    count = kept.size + max(absent, 0)
    if count == 0:
        return Summary(size, nonfinite, None, None, None, 0.0, is_complex)
    least, most = (float(real.min()), float(real.max())) if real.size else (0.0, 0.0)
    if absent > 0:
        least, most = min(least, 0.0), max(most, 0.0)
    largest = max(abs(least), abs(most))
    # Scaled, so that neither the sum nor the squares overflow.
    scaled = real.astype(np.float64) / largest if largest > 0 else np.zeros(real.size)
    mean = float(scaled.sum()) / count * largest
    norm = min(float(np.sqrt(np.square(scaled, out=scaled).sum())) * largest, GREATEST)
    return Summary(size, nonfinite, least, mean, most, norm, is_complex)


def numbers(leaf: Any) -> NDArray[Any] | None:
    """A leaf's numbers, those of a sparse array without its zeros; none that are not here."""
    if isinstance(leaf, StoredTensor):
        return None
    if isinstance(leaf, SparseArray):
        return coalesced(leaf).values
    array = np.asarray(leaf.values if isinstance(leaf, RaggedArray) else leaf)
    return array if array.dtype.kind in "biufc" else None


def sizes(values: NDArray[Any]) -> NDArray[np.float64]:
    """Absolute values as float64, which those of int8, float16 and complex numbers fit in."""
    wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    with np.errstate(over="ignore"):
        found: NDArray[np.float64] = np.minimum(np.abs(wide), GREATEST)
    return found


def coalesced(array: SparseArray) -> SparseArray:
    """The same array with sorted, unique indices."""
    if len(array.indices) == 0:
        return array
    indices, at = np.unique(array.indices, axis=0, return_inverse=True)
    if len(indices) == len(array.indices) and array.values.dtype.kind != "b":
        order = np.argsort(at.ravel())
        return SparseArray(array.indices[order], array.values[order], array.shape)
    values = np.zeros((len(indices), *array.values.shape[1:]), array.values.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # a sum that is not finite is shown as such
        np.add.at(values, at.ravel(), array.values)
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
