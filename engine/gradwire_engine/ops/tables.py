"""Functions given by tables of numbers: slopes, areas, and values between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.axes import axes_of, axis_of
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.bins import SearchSorted, element
from gradwire_engine.ops.comparison import Greater, Less
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.indexing import GetItem
from gradwire_engine.ops.joining import Concatenate
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions import Sum
from gradwire_engine.ops.selection import Where, clip
from gradwire_engine.ops.shape import reshape
from gradwire_engine.ops.slicing import sliced

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _steps(x: Var, axis: int) -> Var:
    n = x.type.shape[axis]
    return sliced(x, axis, min(1, n), n) - sliced(x, axis, 0, max(n - 1, 0))


def _along(x: Var, axis: int, ndim: int) -> Var:
    """The vector ``x`` along ``axis`` of ``ndim``."""
    return reshape(x, tuple([x.type.size if i == axis else 1 for i in range(ndim)]))


@macro("trapezoid", "trapz")
def trapezoid(b: Builder, y: Any, x: Any = None, dx: Any = 1.0, axis: Static = -1) -> Any:
    """Area under a table along ``axis``: ``z = sum (x_{i+1} - x_i) (y_i + y_{i+1}) / 2``.

    ``x`` is a vector or of the shape of ``y``; without it the spacing is ``dx``.
    """
    table, spacing = b.promote(floating(b, y), dx if x is None else x)
    place = axis_of(axis, table.ndim, "trapezoid")
    if x is not None:
        if spacing.ndim == 1:
            spacing = _along(spacing, place, table.ndim)
        spacing = _steps(spacing, axis_of(place - table.ndim, spacing.ndim, "trapezoid"))
    n = table.type.shape[place]
    ends = sliced(table, place, min(1, n), n), sliced(table, place, 0, max(n - 1, 0))
    return Sum.over(spacing * (ends[0] + ends[1]) / 2, (place,))


@macro("gradient")
def gradient(b: Builder, f: Any, *varargs: Any, axis: Static = None, edge_order: Static = 1) -> Any:
    """Slopes of a table by central differences, one-sided at the ends; a list for several axes.

    Spacings follow the table: none for 1, one number for all axes, or for each axis a number or
    the vector of its coordinates.  Exact for parabolas inside.
    """
    table = floating(b, f)
    axes = axes_of(axis, table.ndim, "gradient")
    if edge_order != 1:
        raise BadArgument("gradient knows edge_order 1 only")
    spacings = list(varargs) or [1.0]
    spacings *= len(axes) if len(spacings) == 1 else 1
    if len(spacings) != len(axes):
        raise BadArgument(f"gradient got {len(spacings)} spacings for {len(axes)} axes")
    slopes = [_slope(b, table, s, place) for s, place in zip(spacings, axes, strict=True)]
    several = (axis is None and len(axes) != 1) or (
        isinstance(axis, list | tuple) and len(axes) != 1
    )
    return slopes if several else slopes[0]


def _slope(b: Builder, table: Var, spacing: Any, axis: int) -> Var:
    f, h = b.promote(table, spacing)
    n = f.type.shape[axis]
    if n < 2:
        raise ShapeMismatch(f"gradient needs at least 2 elements along axis {axis}, got {n}")
    steps = _steps(f, axis)
    if h.ndim == 0:
        inner = (sliced(f, axis, 2, n) - sliced(f, axis, 0, n - 2)) / (2 * h)
        first, last = sliced(steps, axis, 0, 1) / h, sliced(steps, axis, n - 2, n - 1) / h
        return Concatenate(axis)(first, inner, last)
    if h.type.shape != (n,):
        raise ShapeMismatch(f"gradient got {h.type.shape} coordinates for an axis of length {n}")
    h = _along(_steps(h, 0), axis, f.ndim)
    slopes = steps / h
    left, right = sliced(h, axis, 0, n - 2), sliced(h, axis, 1, n - 1)
    before, after = sliced(slopes, axis, 0, n - 2), sliced(slopes, axis, 1, n - 1)
    inner = (right * before + left * after) / (left + right)
    first, last = sliced(slopes, axis, 0, 1), sliced(slopes, axis, n - 2, n - 1)
    return Concatenate(axis)(first, inner, last)


@macro("interp")
def interp(b: Builder, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Piecewise linear interpolation at ``x`` of the table ``fp`` over the rising vector ``xp``.

    Beyond the ends ``left`` and ``right``, by default the first and last of ``fp``.  Convention: at
    a point of the table the slope is that to its right, at the last that to its left.
    """
    table = b.array(fp)
    at, knots = b.promote(floating(b, x), xp)
    if at.dtype.kind == "c":
        raise DtypeMismatch("interp needs real points", hint="the table may be complex")
    if knots.ndim != 1 or table.type.shape != knots.type.shape or not knots.type.size:
        shapes = f"{knots.type.shape} and {table.type.shape}"
        raise ShapeMismatch(f"interp needs two vectors of one length, not 0, got {shapes}")
    ends = [
        picked if given is None else given
        for given, picked in (
            (left, element(table, 0)),
            (right, element(table, knots.type.size - 1)),
        )
    ]
    at, knots, table, low, high = b.promote(at, knots, table, *ends)
    n = knots.type.size
    if n > 1:
        real = StopGradient()(b.cast(at, DTYPES["float64"]))
        points = StopGradient()(b.cast(knots, DTYPES["float64"]))
        found = SearchSorted("right")(points, real)
        before = clip(b, found - 1, 0, n - 2)
        x0, x1, f0, f1 = (
            GetItem((ARRAY,))(v, i) for v in (knots, table) for i in (before, before + 1)
        )
        z = f0 + (f1 - f0) * ((at - x0) / (x1 - x0))
    else:
        z = b.broadcast(reshape(table, ()), at.type.shape)
    z = Where()(Less()(at, element(knots, 0)), low, z)
    return Where()(Greater()(at, element(knots, n - 1)), high, z)
