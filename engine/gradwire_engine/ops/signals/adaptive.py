"""Pooling of so many equal parts along each axis, whatever their lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.indexing import take, take_along_axis
from gradwire_engine.ops.arrays.shape import moveaxis, reshape
from gradwire_engine.ops.arrays.windows import per_axis
from gradwire_engine.ops.axes import flag, row_major
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.elementwise import BOOL
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions.reductions import ArgMax, Sum
from gradwire_engine.tape import ArrayType, Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _parts(x: Var, count: int) -> tuple[Var, Any]:
    """The last axis as ``count`` parts that cover it, and the number of elements in each.

    Part i is from ``floor(i n / count)`` to before ``ceil((i + 1) n / count)``: parts may share an
    element.  Shorter ones repeat their last.
    """
    b, n = x.builder, x.type.shape[-1]
    b.afford(ArrayType(DTYPES["int64"], (4, count)))
    starts = np.arange(count) * n // count
    sizes = -(-np.arange(1, count + 1) * n // count) - starts
    if n % count == 0:
        return reshape(x, (*x.type.shape[:-1], count, n // count)), sizes
    places = b.table(
        (count, int(sizes.max())), lambda i, j: starts[i] + np.minimum(j, sizes[i] - 1)
    )
    return take(b, x, places, -1), sizes


def _targets(x: Var, shape: Any) -> Shape:
    """Lengths that the last axes shall have; None keeps one."""
    wanted = shape if isinstance(shape, list | tuple) else (shape,)
    n = len(wanted)
    if not 0 < n <= x.ndim or not x.type.size:
        raise ShapeMismatch(f"pooling over the last {n} axes needs elements there, got {x.type}")
    pairs = zip(wanted, x.type.shape[-n:], strict=True)
    return per_axis([length if part is None else part for part, length in pairs], n, "shape")


@macro("adaptive_average_pool")
def adaptive_average_pool(b: Builder, x: Any, shape: Static) -> Any:
    """Averages of parts, so that the last axes have the lengths ``shape`` (None keeps one).

    Part i of ``m`` along ``n`` elements is from ``floor(i n / m)`` to before
    ``ceil((i + 1) n / m)``.
    """
    x = b.inexact(x)
    targets = _targets(x, shape)
    for count in reversed(targets):
        parts, sizes = _parts(x, count)
        width = parts.type.shape[-1]
        if sizes.min() < width:
            repeated = b.table((count, width), lambda i, j, sizes=sizes: j >= sizes[i], BOOL)
            parts = Where()(repeated, b.scalar(0, x.dtype), parts)
        mean = Sum((parts.ndim - 1,))(parts) / b.constant(sizes.astype(x.dtype))
        x = moveaxis(b, mean, -1, -len(targets))
    return x


@macro("adaptive_max_pool")
def adaptive_max_pool(b: Builder, x: Any, shape: Static, return_indices: Static = False) -> Any:
    """Largest elements of parts, so that the last axes have the lengths ``shape``.

    Parts are those of ``adaptive_average_pool``, indices and convention those of ``max_pool``.
    """
    x = b.array(x)
    targets = _targets(x, shape)
    n = len(targets)
    spatial = x.type.shape[-n:]
    numbers = b.table(spatial, lambda *at: row_major(at, spatial))
    z, index = x, b.broadcast(numbers, x.type.shape)
    for count in reversed(targets):
        parts, _ = _parts(z, count)
        best = ArgMax(parts.ndim - 1)(parts)
        best = reshape(best, (*best.type.shape, 1))
        z, index = (
            moveaxis(b, reshape(take_along_axis(b, v, best), best.type.shape[:-1]), -1, -n)
            for v in (parts, _parts(index, count)[0])
        )
    return [z, index] if flag(return_indices, "return_indices") else z
