"""Updates of elements at computed places: scattered ones, and blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.creation import arange
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.segments import SegmentMax, SegmentMin, SegmentProd
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.axes import integers
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.patterns import ARRAY, FULL, indexed_shape
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, clip
from gradwire_engine.ops.promotion import DTYPES

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _places(b: Builder, x: Var, indices: Any) -> tuple[tuple[Any, ...], list[Var]]:
    """The pattern and index arrays of ``indices``, whose last axis goes over axes of ``x``."""
    index = b.array(indices)
    if index.dtype.kind not in "iu":
        raise DtypeMismatch(f"indices must be integers, got {index.type}")
    depth = index.type.shape[-1] if index.ndim else 0
    if not 0 < depth <= x.ndim:
        raise ShapeMismatch(
            f"indices of shape {index.type.shape} for an array of {x.ndim} axes",
            hint="the last axis of indices has one entry for each of the first axes",
        )
    pattern = (ARRAY,) * depth + (FULL,) * (x.ndim - depth)
    return pattern, [picked(index, index.ndim - 1, i) for i in range(depth)]


def _update(
    b: Builder, tensor: Any, indices: Any, updates: Any
) -> tuple[Var, Var, tuple[Any, ...], list[Var]]:
    """The array, what is to come to the places, broadcast, and the places."""
    x, v = b.promote(tensor, updates)
    pattern, arrays = _places(b, x, indices)
    region = indexed_shape(x.type.shape, pattern, tuple([i.type.shape for i in arrays]))
    return x, b.broadcast(v, region), pattern, arrays


def _by_segment(
    b: Builder, tensor: Any, indices: Any, updates: Any, rule: Callable[[Var, Var, Var], Var]
) -> Var:
    """``rule`` on the rows of the array, those of the updates, and the number of each one's row."""
    x, v, _, arrays = _update(b, tensor, indices, updates)
    shape, depth = x.type.shape, len(arrays)
    # Reading the numbers of the rows treats negative and too large indices as all indexing does.
    numbers = reshape(arange(b, math.prod(shape[:depth])), shape[:depth])
    flat = GetItem((ARRAY,) * depth)(numbers, *arrays)
    ids = reshape(flat, (flat.type.size,))
    rest = shape[depth:]
    rows = reshape(x, (math.prod(shape[:depth]), *rest))
    return reshape(rule(rows, reshape(v, (ids.type.size, *rest)), ids), shape)


@macro("gather_nd")
def gather_nd(b: Builder, params: Any, indices: Any) -> Any:
    """Elements or slices by index: ``z[i] = params[indices[i, 0], indices[i, 1], …]``."""
    x = b.array(params)
    pattern, arrays = _places(b, x, indices)
    return GetItem(pattern)(x, *arrays)


@macro("tensor_scatter_nd_update", "scatter_nd_update")
def tensor_scatter_nd_update(b: Builder, tensor: Any, indices: Any, updates: Any) -> Any:
    """The array with ``updates`` at ``indices``, whose last axis goes over the first axes.

    Convention: of updates at one place the last counts, and has the derivative.
    """
    x, v, pattern, arrays = _update(b, tensor, indices, updates)
    return SetItem(pattern)(x, v, *arrays)


@macro("tensor_scatter_nd_add", "scatter_nd_add")
def tensor_scatter_nd_add(b: Builder, tensor: Any, indices: Any, updates: Any) -> Any:
    """The array with ``updates`` added at ``indices``, repeated ones all."""
    x, v, pattern, arrays = _update(b, tensor, indices, updates)
    return x + ScatterAdd(pattern, x.type.shape)(v, *arrays)


@macro("tensor_scatter_nd_sub", "scatter_nd_sub")
def tensor_scatter_nd_sub(b: Builder, tensor: Any, indices: Any, updates: Any) -> Any:
    """The array with ``updates`` subtracted at ``indices``, repeated ones all."""
    x, v, pattern, arrays = _update(b, tensor, indices, updates)
    return x - ScatterAdd(pattern, x.type.shape)(v, *arrays)


@macro("tensor_scatter_nd_max", "scatter_nd_max")
def tensor_scatter_nd_max(b: Builder, tensor: Any, indices: Any, updates: Any) -> Any:
    """The array with the largest of each element and the ``updates`` there.

    Convention: at a tie the derivative belongs to the array, among updates it is shared evenly.
    """
    return _by_segment(
        b,
        tensor,
        indices,
        updates,
        lambda x, v, ids: Maximum()(x, SegmentMax(x.type.shape[0])(v, ids)),
    )


@macro("tensor_scatter_nd_min", "scatter_nd_min")
def tensor_scatter_nd_min(b: Builder, tensor: Any, indices: Any, updates: Any) -> Any:
    """The array with the smallest of each element and the ``updates`` there.

    Convention: at a tie the derivative belongs to the array, among updates it is shared evenly.
    """
    return _by_segment(
        b,
        tensor,
        indices,
        updates,
        lambda x, v, ids: Minimum()(x, SegmentMin(x.type.shape[0])(v, ids)),
    )


@macro("tensor_scatter_nd_multiply", "scatter_nd_multiply")
def tensor_scatter_nd_multiply(b: Builder, tensor: Any, indices: Any, updates: Any) -> Any:
    """The array multiplied by all ``updates`` at ``indices``.

    Convention: right to all orders where factors are zero.
    """
    return _by_segment(
        b,
        tensor,
        indices,
        updates,
        lambda x, v, ids: x * SegmentProd(x.type.shape[0])(v, ids),
    )


def _block(b: Builder, x: Var, start: Any, sizes: tuple[int, ...]) -> list[Var]:
    """Index arrays of the block of ``sizes`` at ``start``, moved so that it lies inside."""
    from gradwire_engine.ops.builder import Var

    if isinstance(start, Var):
        shape = start.type.shape
        starts = [picked(start, 0, i) for i in range(shape[0])] if len(shape) == 1 else [start]
    else:
        starts = list(start) if isinstance(start, list | tuple) else [start]
    if len(starts) != x.ndim or len(sizes) != x.ndim:
        raise BadArgument(f"a block needs {x.ndim} starts and lengths, one for each axis")
    arrays = []
    for axis, (first, size, length) in enumerate(zip(starts, sizes, x.type.shape, strict=True)):
        at = b.array(first)
        if at.dtype.kind not in "iu" or at.ndim:
            raise DtypeMismatch(f"a start must be an integer, got {at.type}")
        if not 0 <= size <= length:
            raise ShapeMismatch(f"a block of length {size} in an axis of length {length}")
        inside = clip(b, b.cast(at, DTYPES["int64"]), 0, length - size)
        around = tuple([size if i == axis else 1 for i in range(x.ndim)])
        arrays.append(inside + reshape(arange(b, size), around))
    return arrays


@macro("dynamic_slice")
def dynamic_slice(b: Builder, operand: Any, start_indices: Any, slice_sizes: Static) -> Any:
    """The block of ``slice_sizes`` at ``start_indices``, which may be computed.

    A block that would reach beyond the array is moved inside.
    """
    x = b.array(operand)
    arrays = _block(b, x, start_indices, integers(slice_sizes, "slice_sizes"))
    return GetItem((ARRAY,) * x.ndim)(x, *arrays) if arrays else x


@macro("dynamic_update_slice")
def dynamic_update_slice(b: Builder, operand: Any, update: Any, start_indices: Any) -> Any:
    """The array with the block at ``start_indices``, which may be computed, replaced.

    A block that would reach beyond the array is moved inside.
    """
    x, v = b.promote(operand, update)
    arrays = _block(b, x, start_indices, v.type.shape)
    return SetItem((ARRAY,) * x.ndim)(x, v, *arrays) if arrays else v
