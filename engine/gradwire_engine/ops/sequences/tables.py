"""Functions given by tables of numbers: slopes, and values between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axes_of
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Remainder
from gradwire_engine.ops.pointwise.comparison import Greater, Less
from gradwire_engine.ops.pointwise.selection import Where, clip
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.sequences.bins import SearchSorted, element
from gradwire_engine.ops.sequences.sorting import ArgSort

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def steps(x: Var, axis: int) -> Var:
    """Differences of neighbours along ``axis``."""
    n = x.type.shape[axis]
    return sliced(x, axis, min(1, n), n) - sliced(x, axis, 0, max(n - 1, 0))


def along(x: Var, axis: int, ndim: int) -> Var:
    """The vector ``x`` along ``axis`` of ``ndim``."""
    return reshape(x, tuple([x.type.size if i == axis else 1 for i in range(ndim)]))


@macro("gradient")
def gradient(b: Builder, f: Any, *varargs: Any, axis: Static = None, edge_order: Static = 1) -> Any:
    """Slopes of a table by central differences, one-sided at the ends; a list for several axes.

    Spacings follow the table: none for 1, one number for all axes, or for each axis a number or
    the vector of its coordinates.  Exact for parabolas inside, with ``edge_order`` 2 everywhere.
    Source: DLMF 3.4.
    """
    table = floating(b, f)
    axes = axes_of(axis, table.ndim, "gradient")
    if edge_order not in (1, 2):
        raise BadArgument(f"gradient knows edge_order 1 and 2, got {describe(edge_order)}")
    spacings = list(varargs) or [1.0]
    spacings *= len(axes) if len(spacings) == 1 else 1
    if len(spacings) != len(axes):
        raise BadArgument(f"gradient got {len(spacings)} spacings for {len(axes)} axes")
    pairs = zip(spacings, axes, strict=True)
    slopes = [_slope(b, table, spacing, place, edge_order) for spacing, place in pairs]
    several = (axis is None and len(axes) != 1) or (
        isinstance(axis, list | tuple) and len(axes) != 1
    )
    return slopes if several else slopes[0]


def _slope(b: Builder, table: Var, spacing: Any, axis: int, edge_order: int) -> Var:
    f, h = b.promote(table, spacing)
    n = f.type.shape[axis]
    if n <= edge_order:
        raise ShapeMismatch(
            f"gradient needs at least {edge_order + 1} elements along axis {axis}, got {n}"
        )
    if h.ndim == 0:
        inner = (sliced(f, axis, 2, n) - sliced(f, axis, 0, n - 2)) / (2 * h)
        slopes = steps(f, axis) / h
        part_left = part_right = b.scalar(0.5, f.dtype)
    else:
        if h.type.shape != (n,):
            raise ShapeMismatch(
                f"gradient got {h.type.shape} coordinates for an axis of length {n}"
            )
        h = along(steps(h, 0), axis, f.ndim)
        slopes = steps(f, axis) / h
        left, right = sliced(h, axis, 0, n - 2), sliced(h, axis, 1, n - 1)
        part = left / (left + right)
        before, after = sliced(slopes, axis, 0, n - 2), sliced(slopes, axis, 1, n - 1)
        inner = before + part * (after - before)
        part_left = sliced(part, axis, 0, min(1, n - 2))
        part_right = 1 - sliced(part, axis, max(n - 3, 0), n - 2)
    first, last = sliced(slopes, axis, 0, 1), sliced(slopes, axis, n - 2, n - 1)
    if edge_order == 2:
        second, earlier = sliced(slopes, axis, 1, 2), sliced(slopes, axis, n - 3, n - 2)
        first = first + part_left * (first - second)
        last = last + part_right * (last - earlier)
    return Concatenate(axis)(first, inner, last)


@macro("interp")
def interp(
    b: Builder,
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> Any:
    """Piecewise linear interpolation at ``x`` of the table ``fp`` over the rising vector ``xp``.

    Beyond the ends ``left`` and ``right``, by default the first and last of ``fp``.  With
    ``period`` the table goes on, ``xp`` is in any order, and there are no ends.  Convention: at a
    point of the table the slope is that to its right, at the last that to its left.
    """
    table = b.array(fp)
    at, knots = b.promote(floating(b, x), xp)
    if at.dtype.kind == "c":
        raise DtypeMismatch("interp needs real points", hint="the table may be complex")
    if knots.ndim != 1 or table.type.shape != knots.type.shape or not knots.type.size:
        shapes = f"{knots.type.shape} and {table.type.shape}"
        raise ShapeMismatch(f"interp needs two vectors of one length, not 0, got {shapes}")
    if period is not None:
        at, knots, table = _repeating(b, at, knots, table, period)
        left = right = None
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


def _repeating(b: Builder, x: Var, xp: Var, fp: Var, period: Any) -> tuple[Var, Var, Var]:
    """The points within one period, and the table in order with a neighbour on either side."""
    at, knots, length = b.promote(x, xp, period)
    length = Absolute()(length)
    if length.ndim:
        raise ShapeMismatch(f"interp needs one period, got {length.type}")
    at, knots = Remainder()(at, length), Remainder()(knots, length)
    order = ArgSort(0)(knots)
    knots, fp = (GetItem((ARRAY,))(v, order) for v in (knots, fp))
    n, joined = knots.type.size, Concatenate(0)
    (first, last), (low, high) = ((sliced(v, 0, 0, 1), sliced(v, 0, n - 1, n)) for v in (knots, fp))
    return at, joined(last - length, knots, first + length), joined(high, fp, low)
