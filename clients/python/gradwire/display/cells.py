"""Arrays as the cells of a heat-map: few enough to read, each the largest of its block.

A cell stands for a block of elements and has the one that is largest by size; it is odd where one
of them is not finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.figures import coalesced, sizes
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a matrix of ``shape``."""

    values: NDArray[Any]
    #: True for blocks with an element that is not finite.
    odd: NDArray[np.bool_]
    shape: tuple[int, int]

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of the largest block behind a cell."""
        rows, columns = self.values.shape
        return -(-self.shape[0] // rows), -(-self.shape[1] // columns)


def cells(leaf: Any, most: tuple[int, int], row_axes: int | None = None) -> Cells | None:
    """The cells of an array, at most ``most`` rows and columns; ``None`` if it is empty.

    The first ``row_axes`` axes are its rows, all others its columns; by default the last axis.
    """
    if isinstance(leaf, SparseArray):
        return _sparse(leaf, most, row_axes)
    if isinstance(leaf, RaggedArray):
        return _ragged(leaf, most)
    array = np.asarray(leaf)
    shape = as_matrix(array.shape, row_axes)
    if 0 in shape or array.dtype.kind not in "biufc":
        return None
    matrix = array.reshape(shape)
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    counts = _counts(shape, most)
    finite = np.isfinite(matrix)
    values = np.where(finite, matrix, 0).astype(kind)
    starts = [np.arange(count) * n // count for n, count in zip(shape, counts, strict=True)]

    def reduced(ufunc: np.ufunc, whole: NDArray[Any]) -> NDArray[Any]:
        return ufunc.reduceat(ufunc.reduceat(whole, starts[0], axis=0), starts[1], axis=1)

    odd = reduced(np.logical_or, ~finite)
    if kind is np.complex128:
        magnitudes = sizes(values)
        largest = reduced(np.maximum, magnitudes)
        scaled = values / max(float(magnitudes.max()), 1.0)  # so that no sum overflows
        return Cells(_with_phase(largest, reduced(np.add, scaled)), odd, shape)
    return Cells(_signed(reduced(np.maximum, values), reduced(np.minimum, values)), odd, shape)


def as_matrix(shape: tuple[int, ...], row_axes: int | None = None) -> tuple[int, int]:
    """Rows and columns of an array that is written as a matrix; a vector is a row."""
    split = max(len(shape) - 1, 0) if row_axes is None else row_axes
    return math.prod(shape[:split]), math.prod(shape[split:])


def _sparse(array: SparseArray, most: tuple[int, int], row_axes: int | None) -> Cells | None:
    once = coalesced(array)
    shape = as_matrix(array.shape, row_axes)
    within = math.prod(once.values.shape[1:])
    ahead = array.shape[: once.indices.shape[1]]
    strides = np.array([math.prod(ahead[axis + 1 :]) for axis in range(len(ahead))], np.int64)
    places = (once.indices @ strides)[:, None] * within + np.arange(within)
    return _scattered(places.ravel(), once.values.ravel(), shape, most)


def _ragged(array: RaggedArray, most: tuple[int, int]) -> Cells | None:
    lengths = np.diff(array.row_splits)
    inner = math.prod(array.values.shape[1:])
    longest = int(lengths.max(initial=0)) * inner
    row = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(len(row)) - array.row_splits[row]
    places = (row * longest + within * inner)[:, None] + np.arange(inner)
    return _scattered(places.ravel(), array.values.ravel(), (len(lengths), longest), most)


def _scattered(
    places: NDArray[np.int64], values: NDArray[Any], shape: tuple[int, int], most: tuple[int, int]
) -> Cells | None:
    """The cells of a matrix with these elements, at positions in row-major order."""
    if 0 in shape:
        return None
    counts = _counts(shape, most)
    row, column = np.divmod(places, shape[1])
    at = (row * counts[0] // shape[0], column * counts[1] // shape[1])
    finite = np.isfinite(values)
    odd = np.zeros(counts, bool)
    np.logical_or.at(odd, at, ~finite)
    values = np.where(finite, values, 0)
    if values.dtype.kind == "c":
        largest, total = np.zeros(counts), np.zeros(counts, np.complex128)
        np.maximum.at(largest, at, sizes(values))
        np.add.at(total, at, values)
        return Cells(_with_phase(largest, total), odd, shape)
    most_, least = np.zeros(counts), np.zeros(counts)
    np.maximum.at(most_, at, values.astype(np.float64))
    np.minimum.at(least, at, values.astype(np.float64))
    return Cells(_signed(most_, least), odd, shape)


def _counts(shape: tuple[int, int], most: tuple[int, int]) -> tuple[int, int]:
    return min(shape[0], most[0]), min(shape[1], most[1])


def _signed(most: NDArray[Any], least: NDArray[Any]) -> NDArray[Any]:
    return np.where(most >= -least, most, least)


def _with_phase(largest: NDArray[Any], total: NDArray[Any]) -> NDArray[Any]:
    """Sizes with the phases of sums."""
    values: NDArray[Any] = largest * np.exp(1j * np.angle(total))
    return values
