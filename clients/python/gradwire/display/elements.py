"""The elements of leaves, one by one, each with its index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.figures import coalesced
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING


@dataclass(frozen=True, slots=True)
class Elements:
    """Places in an array of ``shape``: those that a leaf has, in order."""

    shape: tuple[int, ...]
    #: Each element's index, axis by axis.
    coordinates: tuple[NDArray[np.int64], ...]
    count: int

    @classmethod
    def of(cls, *leaves: Any) -> Elements:
        """The elements of the first leaf that there is; if there is none, one without index."""
        for leaf in leaves:
            if leaf is None or leaf is MISSING:
                continue
            if isinstance(leaf, SparseArray):
                return cls._of_sparse(coalesced(leaf))
            if isinstance(leaf, RaggedArray):
                return cls._of_ragged(leaf)
            return cls._of_array(np.shape(leaf))
        return cls((), (), 1)

    @classmethod
    def _of_array(cls, shape: tuple[int, ...]) -> Elements:
        size = math.prod(shape)
        return cls(shape, np.unravel_index(np.arange(size), shape) if shape else (), size)

    @classmethod
    def _of_sparse(cls, array: SparseArray) -> Elements:
        within = cls._of_array(array.values.shape[1:])
        given = [np.repeat(axis, within.count) for axis in array.indices.T]
        inner = [np.tile(axis, len(array.values)) for axis in within.coordinates]
        return cls(array.shape, (*given, *inner), array.values.size)

    @classmethod
    def _of_ragged(cls, array: RaggedArray) -> Elements:
        lengths = np.diff(array.row_splits)
        row = np.repeat(np.arange(len(lengths)), lengths)
        at = np.arange(len(row)) - array.row_splits[row]
        within = cls._of_array(array.values.shape[1:])
        outer = [np.repeat(axis, within.count) for axis in (row, at)]
        inner = [np.tile(axis, len(row)) for axis in within.coordinates]
        shape = (len(lengths), int(lengths.max(initial=0)), *within.shape)
        return cls(shape, (*outer, *inner), array.values.size)

    def indices(self) -> list[tuple[int, ...]]:
        """The index of each."""
        if not self.coordinates:
            return [()] * self.count
        return list(zip(*(axis.tolist() for axis in self.coordinates), strict=True))

    def flat(self) -> NDArray[np.int64]:
        """The place of each in the array when that is written as a vector."""
        place = np.zeros(self.count, np.int64)
        for axis, length in zip(self.coordinates, self.shape, strict=True):
            place = place * length + axis
        return place

    def values(self, leaf: Any) -> NDArray[Any]:
        """The elements of a leaf at these places; NaN where it has none."""
        if leaf is None or leaf is MISSING:
            return np.full(self.count, np.nan)
        if isinstance(leaf, RaggedArray):
            flat = leaf.values.ravel()
            return flat if len(flat) == self.count else np.full(self.count, np.nan)
        if isinstance(leaf, SparseArray):
            return self._of_those_given(coalesced(leaf))
        try:
            return np.broadcast_to(leaf, self.shape)[self.coordinates].reshape(self.count)
        except ValueError:  # of another shape
            return np.full(self.count, np.nan)

    def _of_those_given(self, array: SparseArray) -> NDArray[Any]:
        """The elements of a sparse array, zeros included."""
        given, places = self._of_sparse(array).flat(), self.flat()
        found = np.zeros(self.count, array.values.dtype)
        if array.shape == self.shape and given.size:
            at = np.minimum(np.searchsorted(given, places), given.size - 1)
            found = np.where(given[at] == places, array.values.ravel()[at], found)
        return found
