"""Reductions that leave NaN out, as if such elements were missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.axes import axes_of, flag
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.comparison import IsNan, LogicalNot
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions import AllOf, Max, Min, Prod, Sum
from gradwire_engine.ops.selection import Where

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
