"""Statistics: means, variances and order statistics over axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.axes import axes_of, flag
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import AsType, floating
from gradwire_engine.ops.elementwise import BOOL
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.selection import Maximum, zero_unless
from gradwire_engine.ops.promotion import DTYPES, real_of
from gradwire_engine.ops.reductions.norms import Norm, squared_magnitude
from gradwire_engine.ops.reductions.reductions import Max, Min, Sum
from gradwire_engine.tape import DType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _operand(b: Builder, a: Any, dtype: Any) -> tuple[Var, DType]:
    """Where to compute a mean of ``a``, float32 for float16 as in NumPy; the dtype it ends in."""
    x = floating(b, a if dtype is None else AsType.record(b, a, dtype))
    return (b.cast(x, DTYPES["float32"]) if x.dtype == DTYPES["float16"] else x), x.dtype


def _mean(x: Var, axes: tuple[int, ...], *, keepdims: bool, where: Var | None = None) -> Var:
    if where is not None:
        counted = Sum.over(x.builder.cast(where, x.dtype), axes, keepdims=keepdims)
        return Sum.over(zero_unless(where, x), axes, keepdims=keepdims) / counted
    return Sum.over(x, axes, keepdims=keepdims) / math.prod([x.type.shape[i] for i in axes])


def _marked(x: Var, where: Any) -> Var | None:
    """``where`` for each element of ``x``."""
    if where is None:
        return None
    return x.builder.broadcast(x.builder.cast(x.builder.array(where), BOOL), x.type.shape)


@macro("mean", "reduce_mean")
def mean(
    b: Builder,
    a: Any,
    axis: Static = None,
    dtype: Static = None,
    keepdims: Static = False,
    *,
    where: Any = None,
) -> Any:
    """Mean over ``axis``: ``z = sum x / n``; in float64 for integers, NaN of no elements.

    Only elements that ``where`` marks count.
    """
    x, result = _operand(b, a, dtype)
    axes, keep = axes_of(axis, x.ndim, "mean"), flag(keepdims, "keepdims")
    return b.cast(_mean(x, axes, keepdims=keep, where=_marked(x, where)), result)


def _centred(
    b: Builder, a: Any, axis: Any, dtype: Any, ddof: Any, correction: Any, where: Any
) -> tuple[Var, tuple[int, ...], float | Var, DType]:
    """``a`` less its mean, the axes, the degrees of freedom left, and the result's dtype.

    Where only some elements count the freedom has length 1 along the axes.
    """
    x, result = _operand(b, a, dtype)
    if correction is not None and ddof != 0:
        raise BadArgument("ddof and correction are the same thing", hint="leave one of them out")
    less = ddof if correction is None else correction
    if isinstance(less, bool) or not isinstance(less, int | float):
        raise BadArgument(f"ddof must be a number, got {describe(less)}")
    axes, marked = axes_of(axis, x.ndim, "var"), _marked(x, where)
    centred = x - _mean(x, axes, keepdims=True, where=marked)
    if marked is None:
        freedom = max(math.prod([x.type.shape[i] for i in axes]) - less, 0)
        return centred, axes, freedom, real_of(result)
    counted = Sum.over(b.cast(marked, real_of(x.dtype)), axes, keepdims=True) - less
    least = Maximum()(counted, b.scalar(0, counted.dtype))
    return zero_unless(marked, centred), axes, least, real_of(result)


@macro("var", "reduce_variance")
def var(
    b: Builder,
    a: Any,
    axis: Static = None,
    dtype: Static = None,
    ddof: Static = 0,
    keepdims: Static = False,
    correction: Static = None,
    *,
    where: Any = None,
) -> Any:
    """Variance over ``axis``: ``z = sum |x - mean x|² / (n - ddof)``.

    Convention: of equal elements, or of one, the derivative is 0.
    """
    centred, axes, freedom, result = _centred(b, a, axis, dtype, ddof, correction, where)
    keep = flag(keepdims, "keepdims")
    total = Sum.over(squared_magnitude(centred), axes, keepdims=keep)
    return b.cast(total / _shaped(freedom, total), result)


@macro("std", "reduce_std")
def std(
    b: Builder,
    a: Any,
    axis: Static = None,
    dtype: Static = None,
    ddof: Static = 0,
    keepdims: Static = False,
    correction: Static = None,
    *,
    where: Any = None,
) -> Any:
    """Standard deviation over ``axis``: ``z = ‖x - mean x‖ / sqrt(n - ddof)``.

    Convention: of equal elements, or of one, the derivative is 0.
    """
    centred, axes, freedom, result = _centred(b, a, axis, dtype, ddof, correction, where)
    length = Norm.over(centred, axes, keepdims=flag(keepdims, "keepdims"))
    root = math.sqrt(freedom) if isinstance(freedom, int | float) else Sqrt()(freedom)
    return b.cast(length / _shaped(root, length), result)


def _shaped(freedom: Any, z: Var) -> Any:
    return freedom if isinstance(freedom, int | float) else reshape(freedom, z.type.shape)


@macro("average")
def average(
    b: Builder, a: Any, axis: Static = None, weights: Any = None, keepdims: Static = False
) -> Any:
    """Weighted mean over ``axis``: ``z = sum w x / sum w``; ``w`` of ``a``'s shape or the axis'."""
    if weights is None:
        return mean(b, a, axis, keepdims=keepdims)
    x, w = b.promote(floating(b, a), weights)
    axes = axes_of(axis, x.ndim, "average")
    if w.type.shape != x.type.shape:
        if axis is None or w.type.shape != tuple([x.type.shape[i] for i in axes]):
            raise ShapeMismatch(f"average cannot weigh {x.type.shape} by {w.type.shape}")
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        w = transpose(w, tuple(order))
        w = reshape(w, tuple([n if i in axes else 1 for i, n in enumerate(x.type.shape)]))
        w = b.broadcast(w, x.type.shape)
    keep = flag(keepdims, "keepdims")
    return Sum.over(x * w, axes, keepdims=keep) / Sum.over(w, axes, keepdims=keep)


@macro("ptp")
def ptp(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """Range over ``axis``: ``z = max x - min x``."""
    return Max.record(b, a, axis, keepdims) - Min.record(b, a, axis, keepdims)
