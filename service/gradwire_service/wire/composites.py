"""Read sparse and ragged tensors, and check their parts against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gradwire_engine import Leaf, Ragged, Sparse

from gradwire_service.wire.arrays_in import (
    DTYPES,
    Array,
    Dtype,
    Malformed,
    check_rank,
    dtype_named,
)

#: Reads the array in a leaf's field; a list becomes an array of the given dtype.
Part = Callable[[str, Dtype | None], Array]
INT64 = DTYPES["int64"]


def read_sparse(leaf: dict[str, Any], part: Part, *, trainable: bool) -> Sparse:
    """``{"indices", "values", "shape"}``: a row of indices for each value, or for each slice.

    Raises: ``Malformed`` if the lengths differ, or an index lies outside the shape.
    """
    lengths = _integers("shape", part)
    if lengths.ndim != 1 or (lengths < 0).any():
        raise Malformed("a shape is a list of non-negative integers", "shape")
    check_rank(lengths.size)
    shape: list[int] = lengths.tolist()
    values, indices = _values(leaf, part), _integers("indices", part)
    if not indices.size and indices.ndim < 2:
        indices = indices.reshape(len(indices), len(shape))
    count, depth = indices.shape if indices.ndim == 2 else (0, 0)
    if not 0 < depth <= len(shape):
        hint = f"each value needs a row with one index per axis, here {len(shape)}"
        raise Malformed(f"indices have the shape {indices.shape}", "indices", hint=hint)
    wanted = (count, *shape[depth:])
    if values.shape != wanted and (values.size or 0 not in wanted):
        hint = f"{count} rows of indices in a tensor of shape {shape} need values of shape {wanted}"
        raise Malformed(f"values have the shape {values.shape}", "values", hint=hint)
    outside = (indices < 0) | (indices >= lengths[:depth])
    if outside.any():
        row, axis = (int(i) for i in np.argwhere(outside)[0])
        hint = f"indices along axis {axis} are at least 0 and less than {shape[axis]}"
        raise Malformed("the index lies outside the shape", "indices", row, axis, hint=hint)
    parts = {"indices": Leaf(indices, False), "values": Leaf(values.reshape(wanted), trainable)}
    return Sparse(parts, tuple(shape))


def read_ragged(leaf: dict[str, Any], part: Part, *, trainable: bool) -> Ragged:
    """``{"values", "row_splits"}``: where each row begins, and where the last one ends.

    Raises: ``Malformed`` if the splits do not rise from 0 to the number of values.
    """
    values, splits = _values(leaf, part), _integers("row_splits", part)
    if not values.ndim:
        raise Malformed("the values of a ragged tensor are a list", "values")
    if splits.ndim != 1 or not splits.size:
        hint = "[0] has no rows, [0, 2, 5] rows of 2 and 3"
        raise Malformed(
            "row_splits is a list with one number more than rows", "row_splits", hint=hint
        )
    bounds = np.concatenate([[0], splits, [len(values)]])
    wrong = np.diff(bounds) < 0
    wrong[[0, -1]] |= bounds[[1, -2]] != bounds[[0, -1]]
    if wrong.any():
        at = min(int(wrong.argmax()), splits.size - 1)
        hint = f"they must rise from 0 to the number of values, here {len(values)}"
        raise Malformed(
            "row_splits do not divide the values into rows", "row_splits", at, hint=hint
        )
    return Ragged({"values": Leaf(values, trainable), "row_splits": Leaf(splits, False)})


def _values(leaf: dict[str, Any], part: Part) -> Array:
    dtype = dtype_named(leaf.get("dtype"))
    read = part("values", dtype)
    if dtype is not None and read.dtype != dtype:
        detail = f"the values are {read.dtype}, but the tensor is {dtype.name}"
        raise Malformed(detail, "values", hint="leave out the dtype of the tensor")
    return read


def _integers(name: str, part: Part) -> Array:
    read = part(name, INT64)
    if read.dtype.kind not in "iu":
        raise Malformed(f"{name} must be integers, got {read.dtype}", name)
    return read.astype(INT64, copy=False)
