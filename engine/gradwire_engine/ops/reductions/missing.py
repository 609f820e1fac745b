"""Reductions and running totals that leave NaN out, as if such elements were missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.axes import axes_of, flag, without
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import AsType, floating
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.comparison import IsNan, LogicalNot
from gradwire_engine.ops.pointwise.selection import Where, zero_unless
from gradwire_engine.ops.promotion import DTYPES, real_of
from gradwire_engine.ops.reductions.norms import Norm, squared_magnitude
from gradwire_engine.ops.reductions.reductions import AllOf, ArgMax, ArgMin, Max, Min, Prod, Sum
from gradwire_engine.ops.sequences.cumulative import CumProd, CumSum
from gradwire_engine.tape import DType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _filled(b: Builder, x: Var, value: float) -> Var:
    """``x`` with ``value`` in place of NaN."""
    if not x.type.differentiable:
        return x
    return Where()(IsNan()(x), b.scalar(value, x.dtype), x)


@macro("nansum")
def nansum(
    b: Builder, a: Any, axis: Static = None, dtype: Static = None, keepdims: Static = False
) -> Any:
    """Sum over ``axis`` of what is not NaN.  Convention: derivative 0 at NaN."""
    return Sum.record(b, _filled(b, b.array(a), 0), axis, dtype, keepdims)


@macro("nanprod")
def nanprod(
    b: Builder, a: Any, axis: Static = None, dtype: Static = None, keepdims: Static = False
) -> Any:
    """Product over ``axis`` of what is not NaN.  Convention: derivative 0 at NaN."""
    return Prod.record(b, _filled(b, b.array(a), 1), axis, dtype, keepdims)


def _extreme(b: Builder, a: Any, axis: Any, keepdims: Any, reduction: type[Max | Min]) -> Var:
    x = b.array(a)
    if x.dtype.kind == "c":
        raise DtypeMismatch("extrema beside NaN are of real numbers", hint="abs, real or imag")
    worst = -math.inf if reduction is Max else math.inf
    found = reduction.along(_filled(b, x, worst), axis, keepdims)
    if not x.type.differentiable:
        return found
    nothing = AllOf.along(IsNan()(x), axis, keepdims)
    return Where()(nothing, b.scalar(math.nan, x.dtype), found)


@macro("nanmax")
def nanmax(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """Largest over ``axis`` of what is not NaN; NaN where all are.

    Convention: elements that are equal to the largest share the derivative evenly; 0 at NaN.
    """
    return _extreme(b, a, axis, keepdims, Max)


@macro("nanmin")
def nanmin(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """Smallest over ``axis`` of what is not NaN; NaN where all are.

    Convention: elements that are equal to the smallest share the derivative evenly; 0 at NaN.
    """
    return _extreme(b, a, axis, keepdims, Min)


@macro("nanmean")
def nanmean(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """Mean over ``axis`` of what is not NaN, NaN where all are.

    Convention: derivative 0 at NaN.
    """
    given = floating(b, a)
    # Sums of half precision overflow, and its counts are inexact.
    x = b.cast(given, DTYPES["float32"]) if given.dtype.itemsize == 2 else given
    axes, keeps = axes_of(axis, x.ndim, "nanmean"), flag(keepdims, "keepdims")
    present = b.cast(LogicalNot()(IsNan()(x)), x.dtype)
    total = Sum.over(_filled(b, x, 0), axes, keepdims=keeps)
    return b.cast(total / Sum.over(present, axes, keepdims=keeps), given.dtype)


def _spread(
    b: Builder, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, op: str
) -> tuple[Var, Var, tuple[int, ...], bool, DType]:
    """What is there less its mean, 0 at NaN; degrees of freedom, NaN if none; what to end in."""
    given = floating(b, a if dtype is None else AsType.record(b, a, dtype))
    x = b.cast(given, DTYPES["float32"]) if given.dtype.itemsize == 2 else given
    if isinstance(ddof, bool) or not isinstance(ddof, int | float):
        raise BadArgument(f"ddof must be a number, got {describe(ddof)}")
    axes, keeps = axes_of(axis, x.ndim, op), flag(keepdims, "keepdims")
    there = LogicalNot()(IsNan()(x))
    count = Sum.over(b.cast(there, x.dtype), axes, keepdims=True)
    mean = Sum.over(_filled(b, x, 0), axes, keepdims=True) / count
    centred = zero_unless(there, x - mean)
    freedom = b.cast(count, real_of(x.dtype)) - ddof
    nothing = b.scalar(math.nan, freedom.dtype)
    freedom = Where()(freedom.exceeds(0), freedom, nothing)
    if not keeps:
        freedom = reshape(freedom, without(x.shape, axes))
    return centred, freedom, axes, keeps, real_of(given.dtype)


@macro("nanvar")
def nanvar(
    b: Builder,
    a: Any,
    axis: Static = None,
    dtype: Static = None,
    ddof: Static = 0,
    keepdims: Static = False,
) -> Any:
    """Variance over ``axis`` of what is not NaN: ``sum |x - mean x|² / (n - ddof)``.

    NaN unless there are more than ``ddof``.  Convention: derivative 0 at NaN.
    """
    x, freedom, axes, keeps, end = _spread(b, a, axis, dtype, ddof, keepdims, "nanvar")
    return b.cast(Sum.over(squared_magnitude(x), axes, keepdims=keeps) / freedom, end)


@macro("nanstd")
def nanstd(
    b: Builder,
    a: Any,
    axis: Static = None,
    dtype: Static = None,
    ddof: Static = 0,
    keepdims: Static = False,
) -> Any:
    """Standard deviation over ``axis`` of what is not NaN: the root of ``nanvar``.

    Convention: of equal elements, or of one, the derivative is 0; at NaN too.
    """
    x, freedom, axes, keeps, end = _spread(b, a, axis, dtype, ddof, keepdims, "nanstd")
    return b.cast(Norm.over(x, axes, keepdims=keeps) / Sqrt()(freedom), end)


@macro("nanargmax", differentiable=False)
def nanargmax(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """Index along ``axis`` of the largest of what is not NaN, the first of equals.

    Where all are NaN, 0.
    """
    return ArgMax.record(b, _filled(b, b.array(a), -math.inf), axis, keepdims)


@macro("nanargmin", differentiable=False)
def nanargmin(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """Index along ``axis`` of the smallest of what is not NaN, the first of equals.

    Where all are NaN, 0.
    """
    return ArgMin.record(b, _filled(b, b.array(a), math.inf), axis, keepdims)


@macro("nancumsum")
def nancumsum(b: Builder, a: Any, axis: Static = None, dtype: Static = None) -> Any:
    """Running sum along ``axis`` of what is not NaN.  Convention: derivative 0 at NaN."""
    return CumSum.record(b, _filled(b, b.array(a), 0), axis, dtype)


@macro("nancumprod")
def nancumprod(b: Builder, a: Any, axis: Static = None, dtype: Static = None) -> Any:
    """Running product along ``axis`` of what is not NaN.  Convention: derivative 0 at NaN."""
    return CumProd.record(b, _filled(b, b.array(a), 1), axis, dtype)
