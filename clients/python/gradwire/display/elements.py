"""The elements of leaves, one by one, each with its index."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire.display.figures import coalesced
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING

Index: TypeAlias = tuple[int, ...]


def elements(leaf: Any) -> tuple[list[Index], NDArray[Any]]:
    """The index of each element that a leaf has, in order, and the elements."""
    ahead: list[Index]
    if isinstance(leaf, SparseArray):
        once = coalesced(leaf)
        ahead, values = [tuple(index) for index in once.indices.tolist()], once.values
    elif isinstance(leaf, RaggedArray):
        lengths = np.diff(leaf.row_splits).tolist()
        ahead = [(row, i) for row, length in enumerate(lengths) for i in range(length)]
        values = leaf.values
    else:
        array = np.asarray(leaf)
        return list(np.ndindex(array.shape)), array.ravel()
    within = list(np.ndindex(values.shape[1:]))
    return [index + inner for index in ahead for inner in within], values.ravel()


def elements_at(leaf: Any, indices: list[Index]) -> NDArray[Any]:
    """The elements of a leaf at these indices; NaN where it has none.

    A dense leaf is repeated along first axes that it lacks, as others are in a batch.
    """
    count = len(indices)
    if leaf is None or leaf is MISSING or count == 0:
        return np.full(count, np.nan)
    if isinstance(leaf, (SparseArray, RaggedArray)):
        found = dict(zip(*elements(leaf), strict=True))
        absent = 0 if isinstance(leaf, SparseArray) else np.nan
        return np.array([found.get(index, absent) for index in indices])
    array = np.asarray(leaf)
    axes = [*np.array(indices, np.int64).T]
    own = axes[len(axes) - array.ndim :]
    try:
        return np.broadcast_to(array[tuple(own)], count)
    except (IndexError, ValueError):  # of another shape
        return np.full(count, np.nan)
