"""Splines through the elements of an array, as ``scipy.ndimage`` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.padding import pad
from gradwire_engine.ops.arrays.shape import moveaxis, reshape
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.axes import choice, flag, integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.images.interpolation import BORDERS, SPLINES, inside, sampled, within
from gradwire_engine.ops.linalg.structured import SolveBanded
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.ops.pointwise.selection import Floor, Where
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Modes that extend the array before its splines are made, how, and by how much.
_EXTENDED, _MARGIN = {"nearest": "edge", "grid-constant": "constant"}, 12


@macro("map_coordinates", "ndimage.map_coordinates")
def map_coordinates(
    b: Builder,
    input: Any,
    coordinates: Any,
    order: Static = 3,
    mode: Static = "constant",
    cval: Any = 0.0,
    prefilter: Static = True,
) -> Any:
    """The array between its elements by splines of ``order`` 0 to 3, as ``scipy.ndimage`` has it.

    ``coordinates`` has along its first axis an index, with fraction, for each axis.  ``mode`` says
    what is beyond the edges: ``constant`` gives ``cval``, ``nearest`` the outermost, ``mirror`` and
    ``reflect`` go back from the middle and from the outside of the last element, ``wrap`` goes on
    at the other end, which is the same point; ``grid-constant`` and ``grid-wrap`` extend the grid.
    Convention: where the slope jumps, that of the side of larger indices.
    """
    x, fill = b.promote(floating(b, input), cval, rule=inexact_promoted)
    if fill.ndim:
        raise ShapeMismatch(f"map_coordinates needs one number as cval, got {fill.type}")
    places = b.inexact(coordinates)
    if places.dtype.kind == "c":
        raise DtypeMismatch(f"coordinates are real numbers, got {places.type}")
    if not x.ndim or not places.ndim or places.type.shape[0] != x.ndim:
        raise ShapeMismatch(f"coordinates need {x.ndim} rows for {x.type}, got {places.type}")
    if not 0 <= integer(order, "order") <= 3:
        raise BadArgument(f"map_coordinates knows orders from 0 to 3, not {order}")
    choice(mode, BORDERS, "mode")
    positions = [picked(places, 0, axis) for axis in range(x.ndim)]
    known = inside(x, positions)
    if mode == "wrap" or (order == 0 and mode != "grid-constant"):
        fold = _wrapped if mode == "wrap" else BORDERS[mode]
        positions = [fold(p, n) for p, n in zip(positions, x.type.shape, strict=True)]
    if order > 1 and flag(prefilter, "prefilter"):
        if mode in _EXTENDED:
            border = (cval,) if mode == "grid-constant" else ()
            x = pad(b, x, _MARGIN, _EXTENDED[mode], *border)
            positions = [p + _MARGIN for p in positions]
        for axis in range(x.ndim):
            x = _spline_coefficients(x, axis, order, mode)
    z = sampled(x, positions, SPLINES[order], mode, fill if mode == "grid-constant" else None)
    return Where()(known, z, fill) if mode == "constant" else z


def _wrapped(position: Var, length: int) -> Var:
    """Positions beyond the edges moved by whole periods, whose ends are the same point."""
    b, period = position.builder, max(length - 1, 1)
    turns = Floor()(Absolute()(position) / period)
    before = Less()(position, b.scalar(0, position.dtype))
    moved = Where()(before, position + (turns + 1) * period, position - turns * period)
    return Where()(within(position, length), position, moved)


def _spline_coefficients(x: Var, axis: int, order: int, mode: str) -> Var:
    """Coefficients of the B-splines whose sum goes through the elements of ``x``."""
    b, length = x.builder, x.type.shape[axis]
    if mode == "grid-wrap":
        hint = "prefilter=False takes the array's elements as coefficients"
        raise BadArgument("splines of order 2 and 3 have no mode grid-wrap", hint=hint)
    if length < 2:
        return x
    side = SPLINES[order][0][0]

    def band(row: Any, place: Any) -> Any:
        if mode in ("nearest", "reflect"):  # the first element is its own neighbour
            again = (row == 1) & (place % (length - 1) == 0)
        else:  # the second element is on both sides of the first
            again = ((row == 0) & (place == 1)) | ((row == 2) & (place == length - 2))
        return np.where(row == 1, 1 - 2 * side, side) + side * again

    rows = moveaxis(b, x, axis, 0)
    flat = reshape(rows, (length, rows.type.size // length))
    solved = SolveBanded(1, 1)(b.table((3, length), band, x.dtype), flat)
    z: Var = moveaxis(b, reshape(solved, rows.type.shape), 0, axis)
    return z
