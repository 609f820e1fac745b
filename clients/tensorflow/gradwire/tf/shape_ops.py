"""Shapes and sizes of tensors, and tensors made of shapes alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf import checks, dtypes, static
from gradwire.tf.arrays import reshape
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.nodes import Spec
from gradwire.tf.operations.types import DTypeLike, Ints, TensorLike
from gradwire.tf.shapes import TensorShape, as_shape
from gradwire.tf.tensors import Tensor

__all__ = [
    "broadcast_dynamic_shape", "broadcast_static_shape", "meshgrid", "rank", "sequence_mask",
    "shape", "shape_n", "size",
]  # fmt: skip


def shape(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Any:
    """The lengths of the axes, as a tensor of int32 by default."""
    if hasattr(input, "_dynamic_shape"):
        return input._dynamic_shape(out_type)
    kind = dtypes.as_dtype(dtypes.int32 if out_type is None else out_type)
    if hasattr(input, "dense_shape"):
        return tensor_of(static.array(input.dense_shape).astype(kind.storage), kind)
    return tensor_of(np.array(convert_to_tensor(input)._lengths(), kind.storage), kind)


def shape_n(input: Any, out_type: DTypeLike = dtypes.int32, name: str | None = None) -> list[Any]:
    """The shapes of several tensors."""
    return [shape(each, out_type) for each in input]


def size(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The number of elements."""
    kind = dtypes.as_dtype(dtypes.int32 if out_type is None else out_type)
    if hasattr(input, "dense_shape"):
        count = math.prod(static.lengths(input.dense_shape))
    elif hasattr(input, "flat_values"):
        count = math.prod(input.flat_values._lengths())
    else:
        count = math.prod(convert_to_tensor(input)._lengths())
    return tensor_of(np.array(count, kind.storage), kind)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes."""
    if hasattr(input, "dense_shape"):
        return tensor_of(np.int32(len(static.lengths(input.dense_shape))))
    known = input.shape.rank if hasattr(input, "flat_values") else None
    return tensor_of(np.int32(len(convert_to_tensor(input)._lengths()) if known is None else known))


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that both are broadcast to."""
    left, right = as_shape(shape_x).as_tuple(), as_shape(shape_y).as_tuple()
    size = max(len(left), len(right))
    pairs = zip((1,) * (size - len(left)) + left, (1,) * (size - len(right)) + right, strict=True)
    lengths: list[int | None] = []
    for a, b in pairs:
        if None not in (a, b, 1) and a != b and 1 not in (a, b):
            raise ValueError(
                f"the shapes {shape_x} and {shape_y} do not broadcast: lengths {a} and {b} differ, "
                "and neither is 1"
            )
        lengths.append(b if a == 1 else a)
    return TensorShape(lengths)


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape that both are broadcast to, as a tensor."""
    left, right = static.array(shape_x), static.array(shape_y)
    shape = checks.broadcast("BroadcastArgs", tuple(left.tolist()), tuple(right.tolist()))
    return tensor_of(np.array(shape, left.dtype))


def meshgrid(*args: TensorLike, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """Coordinates of all points of a grid, one tensor for each axis."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"`indexing` must be 'xy' or 'ij', got {indexing!r}")
    axes = [reshape(each, [-1]) for each in args]
    lengths = [axis._lengths()[0] for axis in axes]
    order = [*range(len(axes))]
    if indexing == "xy" and len(axes) > 1:
        order[:2] = [1, 0]
    shape = tuple([lengths[place] for place in order])
    grids = []
    for place, axis in enumerate(axes):
        outline = [1] * len(axes)
        outline[order.index(place)] = lengths[place]
        spec = Spec(axis.dtype, shape)
        grids.append(call("np.broadcast_to", reshape(axis, outline), list(shape), spec=spec))
    return grids


def sequence_mask(
    lengths: TensorLike,
    maxlen: Ints | None = None,
    dtype: DTypeLike = dtypes.bool_,
    name: str | None = None,
) -> Tensor:
    """True where the index along a new last axis is below the given length."""
    counts, kind = static.array(lengths), dtypes.as_dtype(dtype)
    most = int(counts.max(initial=0)) if maxlen is None else static.integer(maxlen)
    return tensor_of((np.arange(most) < counts[..., None]).astype(kind.storage), kind)
