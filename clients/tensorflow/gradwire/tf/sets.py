"""``tf.sets``: the last axis of a tensor as sets of integers or texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import DType, int32
from gradwire.tf.errors import invalid
from gradwire.tf.sparse_tensors import SparseTensor
from gradwire.tf.tensors import Tensor

_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")
Sets = dict[tuple[int, ...], set[Any]]


def size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """The number of distinct elements of each set."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    lengths, sets, _ = _sets("a", a)
    counts = np.zeros(lengths, np.int32)
    for place, each in sets.items():
        counts[place] = len(each)
    return tensor_of(counts, int32)


def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in both sets."""
    return _combined(a, b, lambda one, other: one & other)


def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in either set."""
    return _combined(a, b, lambda one, other: one | other)


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in the first set only, or in the second only."""
    return _combined(a, b, lambda one, other: one - other if aminusb else other - one)


def _combined(a: Any, b: Any, function: Callable[[set[Any], set[Any]], set[Any]]) -> SparseTensor:
    lengths, ours, dtype = _sets("a", a)
    others, theirs, other_dtype = _sets("b", b)
    if dtype.name != other_dtype.name:
        raise TypeError(f"Types don't match, {dtype!r} vs {other_dtype!r}.")
    if lengths != others:
        raise invalid(f"Mismatched shapes {list(lengths)} vs {list(others)}")
    places: list[tuple[int, ...]] = []
    values: list[Any] = []
    longest = 0
    for place in np.ndindex(lengths):
        found = sorted(function(ours.get(place, set()), theirs.get(place, set())))
        longest = max(longest, len(found))
        places += [(*place, i) for i in range(len(found))]
        values += found
    indices = np.asarray(places, np.int64).reshape(-1, len(lengths) + 1)
    array = np.asarray(values, object if dtype.name == "string" else dtype.storage)
    return SparseTensor(indices, tensor_of(array, dtype), [*lengths, longest])


def _sets(name: str, given: Any) -> tuple[tuple[int, ...], Sets, DType]:
    """The shape of the sets, those that are not empty by their places, and their dtype."""
    sets: Sets = {}
    if isinstance(given, SparseTensor):
        values, dtype = given.values.numpy().tolist(), given.values.dtype
        lengths = tuple(given.dense_shape.numpy().tolist())
        rows = [tuple(row) for row in given.indices.numpy()[:, :-1].tolist()]
        for place, value in zip(rows, values, strict=True):
            sets.setdefault(place, set()).add(value)
    else:
        tensor = convert_to_tensor(given)
        array, dtype, lengths = np.asarray(tensor.numpy()), tensor.dtype, tensor._lengths()
        sets = {place: set(array[place].tolist()) for place in np.ndindex(lengths[:-1])}
    if dtype.name not in _DTYPES:
        raise TypeError(f"{name!r} has invalid dtype `{dtype!r}`: sets are of {', '.join(_DTYPES)}")
    if len(lengths) < 2:
        raise invalid(f"Shape {list(lengths)} has rank {len(lengths)} < 2")
    return lengths[:-1], sets, dtype
