"""Values between the elements of an array, at positions that may be differentiated too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.ops.pointwise.arithmetic import Remainder
from gradwire_engine.ops.pointwise.comparison import GreaterEqual, LessEqual
from gradwire_engine.ops.pointwise.selection import Floor, Maximum, Minimum, Where
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions.reductions import Sum

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

_INT64 = DTYPES["int64"]
#: Weights of the elements around a position: a row for each, of coefficients of a polynomial of the
#: distance from the element before the position; from the nearest if there is an odd number.
Stencil = tuple[tuple[float, ...], ...]

#: B-splines by their order.  Source: Unser, Splines: A Perfect Fit (1999).
SPLINES: tuple[Stencil, ...] = (
    ((1.0,),),
    ((1.0, -1.0), (0.0, 1.0)),
    ((1 / 8, -1 / 2, 1 / 2), (3 / 4, 0.0, -1.0), (1 / 8, 1 / 2, 1 / 2)),
    (
        (1 / 6, -1 / 2, 1 / 2, -1 / 6),
        (2 / 3, 0.0, -1.0, 1 / 2),
        (1 / 6, 1 / 2, 1 / 2, -1 / 2),
        (0.0, 0.0, 0.0, 1 / 6),
    ),
)


def _mirrored(index: Var, length: int) -> Var:
    period = max(2 * (length - 1), 1)
    folded = _modulo(index, period)
    return Minimum()(folded, period - folded)


def _reflected(index: Var, length: int) -> Var:
    folded = _modulo(index, 2 * length)
    return Minimum()(folded, 2 * length - 1 - folded)


def clipped(index: Var, length: int) -> Var:
    """The nearest index of an element; bounds come first, so that on them the derivative is 0."""
    first, last = (index.constant(bound) for bound in (0, length - 1))
    return Minimum()(last, Maximum()(first, index))


def _modulo(index: Var, period: int) -> Var:
    return Remainder()(index, index.constant(period))


#: The element that stands for one beyond the edges.
BORDERS: dict[str, Callable[[Var, int], Var]] = {
    "mirror": _mirrored,
    "reflect": _reflected,
    "nearest": clipped,
    "grid-wrap": _modulo,
    "constant": _mirrored,
    "wrap": _mirrored,
    "grid-constant": clipped,
}


def sampled(
    x: Var,
    positions: Sequence[Var],
    stencil: Stencil,
    mode: str,
    fill: Var | None = None,
    leading: Sequence[Var] = (),
) -> Var:
    """``x`` at ``positions``, one array for each axis after those that ``leading`` indexes.

    The result has the shape of the positions, then the axes of ``x`` that are left.  With
    ``fill``, that stands for all elements beyond the edges.
    """
    b, count = x.builder, len(positions)
    rest = x.ndim - len(leading) - count
    indices: list[Var] = []
    weights: list[Var] = []
    known: Var | None = None
    shape = broadcast_shapes(*[p.shape for p in positions])
    for place, position in enumerate(positions):
        length = x.shape[len(leading) + place]
        if not length:
            raise ShapeMismatch(f"there is nothing to interpolate in {x.type}")
        # The elements around stand along an axis of their own, before those of the positions.
        around = (-1, *(1,) * (count - 1 - place + len(shape)))
        index, weight = _neighbours(position, stencil, around)
        weights.append(b.cast(weight, x.dtype))
        if fill is not None:
            lies = within(index, length)
            known = lies if known is None else known & lies
        indices.append(BORDERS[mode](index, length))
    pattern = (ARRAY,) * (len(leading) + count) + (FULL,) * rest
    z = GetItem(pattern)(x, *leading, *indices)
    if known is not None and fill is not None:
        z = Where()(_followed(known, rest), z, fill)
    for weight in weights:
        z = Sum.over(z * _followed(weight, rest), (0,))
    return z


def _neighbours(position: Var, stencil: Stencil, around: tuple[int, ...]) -> tuple[Var, Var]:
    """Indices and weights of the elements around ``position``."""
    b, rows = position.builder, np.array(stencil)
    middle = position + 0.5 if len(rows) % 2 else position
    base = Floor()(middle)
    first = np.arange(len(rows)) - (len(rows) - 1) // 2
    index = b.cast(base, _INT64) + b.constant(first.reshape(around))
    columns = [b.constant(c.reshape(around).astype(position.dtype)) for c in rows.T]
    weight, distance = columns.pop(), position - base
    for column in reversed(columns):
        weight = weight * distance + column
    return index, weight


def within(x: Var, length: int) -> Var:
    """True if ``x`` is an index of ``length`` elements, or between two."""
    below, above = x.constant(0), x.constant(length - 1)
    return GreaterEqual()(x, below) & LessEqual()(x, above)


def inside(x: Var, positions: Sequence[Var], first: int = 0) -> Var:
    """True if the positions lie between the outermost elements of the axes from ``first``."""
    found = [within(p, n) for p, n in zip(positions, x.shape[first:], strict=False)]
    known = found[0]
    for other in found[1:]:
        known = known & other
    return known


def _followed(x: Var, count: int) -> Var:
    """``x`` with ``count`` axes of length 1 behind."""
    return reshape(x, (*x.shape, *(1,) * count))
