"""Areas under tables of numbers, in all and up to each point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.patterns import FULL, Span
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.ops.sequences.cumulative import CumSum
from gradwire_engine.ops.sequences.tables import along, steps
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _spaced(b: Builder, y: Any, x: Any, dx: Any, axis: Any, op: str) -> tuple[Var, Var, int]:
    """The table, its spacings as they broadcast with those between its points, and the axis."""
    table, spacing = b.promote(floating(b, y), dx if x is None else x)
    place = axis_of(axis, table.ndim, op)
    if x is None:
        if spacing.ndim:
            raise ShapeMismatch(f"{op} needs one number as dx, got {spacing.type}", hint="x")
        return table, spacing, place
    if spacing.ndim == 1:
        spacing = along(spacing, place, table.ndim)
    place_of_x = axis_of(place - table.ndim, spacing.ndim, op)
    if spacing.shape[place_of_x] != table.shape[place]:
        raise ShapeMismatch(f"{op} got {spacing.shape} points for a table of shape {table.shape}")
    return table, steps(spacing, place_of_x), place


def _strips(table: Var, spacing: Var, axis: int) -> Var:
    """Areas between neighbours: ``(x_{i+1} - x_i) (y_i + y_{i+1}) / 2``."""
    n = table.shape[axis]
    left, right = sliced(table, axis, 0, max(n - 1, 0)), sliced(table, axis, min(1, n), n)
    return spacing * (left + right) / 2


@macro("trapezoid", "trapz", "integrate.trapezoid")
def trapezoid(b: Builder, y: Any, x: Any = None, dx: Any = 1.0, axis: Static = -1) -> Any:
    """Area under a table along ``axis``: ``z = sum (x_{i+1} - x_i) (y_i + y_{i+1}) / 2``.

    ``x`` is a vector or of the shape of ``y``; without it the spacing is ``dx``.
    """
    table, spacing, place = _spaced(b, y, x, dx, axis, "trapezoid")
    return Sum.over(_strips(table, spacing, place), (place,))


@macro("cumulative_trapezoid", "integrate.cumulative_trapezoid")
def cumulative_trapezoid(
    b: Builder,
    y: Any,
    x: Any = None,
    dx: Any = 1.0,
    axis: Static = -1,
    initial: Static = None,
) -> Any:
    """Area under a table up to each point but the first; with ``initial`` 0 also up to that.

    ``x`` and ``dx`` are those of ``trapezoid``.
    """
    table, spacing, place = _spaced(b, y, x, dx, axis, "cumulative_trapezoid")
    if initial not in (None, 0):
        raise BadArgument("initial is 0 or left out")
    z = CumSum(place)(_strips(table, spacing, place))
    if initial is None:
        return z
    front = b.full(0, ArrayType(z.dtype, (*z.shape[:place], 1, *z.shape[place + 1 :])))
    return Concatenate(place)(front, z)


@macro("simpson", "integrate.simpson")
def simpson(b: Builder, y: Any, x: Any = None, dx: Any = 1.0, axis: Static = -1) -> Any:
    """Area under the parabolas through three points each of a table along ``axis``.

    ``x`` and ``dx`` are those of ``trapezoid``.  Of an even number of points the last strip is
    below the parabola through the last three.  Source: Cartwright, Simpson's Rule Cumulative
    Integration with MS Excel and Irregularly-spaced Data (2017), eq. 8.
    """
    table, spacing, place = _spaced(b, y, x, dx, axis, "simpson")
    n = table.shape[place]
    if n <= 2:
        return Sum.over(_strips(table, spacing, place), (place,))
    odd, axis = (n if n % 2 else n - 1), place - table.ndim
    y0, y1, y2 = (_every_other(table, axis, i, odd + i - 2) for i in range(3))
    h0, h1 = (_every_other(spacing, axis, i, odd - 1) for i in range(2))
    width = h0 + h1
    arcs = y0 * (2 - h1 / h0) + y1 * (width * width / (h0 * h1)) + y2 * (2 - h0 / h1)
    z = Sum.over(width / 6 * arcs, (place,))
    if n == odd:
        return z
    before, last = (_one(spacing, axis, i) for i in (n - 3, n - 2))
    a0, a1, a2 = (_one(table, axis, i) for i in (n - 3, n - 2, n - 1))
    width = before + last
    end = a2 * (2 * last * last + 3 * before * last) / (6 * width)
    end = end + a1 * (last * last + 3 * before * last) / (6 * before)
    end = end - a0 * (last * last * last) / (6 * before * width)
    return z + Sum.over(end, (place,))


def _every_other(x: Var, axis: int, start: int, stop: int) -> Var:
    """Every second element along ``axis``, counted from the last; one number stands for all."""
    if not x.ndim:
        return x
    spans = [FULL] * x.ndim
    spans[axis] = Span(start, max(stop, start), 2)
    return GetItem(tuple(spans))(x)


def _one(x: Var, axis: int, index: int) -> Var:
    """The element at ``index`` of an axis counted from the last, which stays."""
    return sliced(x, axis + x.ndim, index, index + 1) if x.ndim else x
