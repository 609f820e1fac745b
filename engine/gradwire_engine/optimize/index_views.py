"""Selections by regular indices along an axis, as slices, windows and rolls; and sums by them.

A view takes the time of a call, however much it selects. What is added is added by blocks. Of
irregular indices a permutation adds nothing up: it is undone by its inverse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.rearranging import Flip, Roll
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.windows import OverlapAdd, Windows
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span
from gradwire_engine.ops.pointwise.arithmetic import Add
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.optimize.expressions import Expression
from gradwire_engine.optimize.index_steps import Steps, pieces_of, shift_of, steps_of
from gradwire_engine.tape import Shape

#: Indices that wrap around or are clipped are two or three pieces.
_MOST_PIECES = 3


class Axis(NamedTuple):
    """The axis at ``place`` of an array of a shape, along which elements are selected."""

    shape: Shape
    place: int

    @property
    def length(self) -> int:
        """The number of elements to select from."""
        return self.shape[self.place]

    def moved(self, index: Any) -> int:
        """The number of elements that indices select along the axis."""
        return math.prod(self.replaced(index.shape))

    def pattern(self, item: Any) -> Pattern:
        """``item`` along the axis, and all along the others."""
        return tuple([item if axis == self.place else FULL for axis in range(len(self.shape))])

    def read(self, x: Expression, item: int | Span) -> Expression:
        """``item`` of an array."""
        return x if self._is_whole(item) else (GetItem(self.pattern(item)), [x])

    def write(self, x: Expression, item: int | Span) -> Expression:
        """Zeros but for ``x`` at ``item``."""
        return x if self._is_whole(item) else (ScatterAdd(self.pattern(item), self.shape), [x])

    def _is_whole(self, item: int | Span) -> bool:
        of = range(self.length)
        return isinstance(item, Span) and of[slice(*item)] == of

    def replaced(self, lengths: Shape) -> Shape:
        """The shape with axes of other ``lengths`` for the axis."""
        return (*self.shape[: self.place], *lengths, *self.shape[self.place + 1 :])

    def to_end(self, axes: int) -> Shape:
        """The order that brings ``axes`` for the axis to the end."""
        kept = range(len(self.shape) + axes - 1)
        own = range(self.place, self.place + axes)
        return (*[axis for axis in kept if axis not in own], *own)

    def those(self, which: Sequence[bool]) -> tuple[int, ...]:
        """The axes of which that holds, of those for the axis."""
        return tuple([self.place + number for number, holds in enumerate(which) if holds])


def selected(x: Expression, along: Axis, index: Any, costs: Costs) -> Expression | None:
    """The selection of regular indices along an axis."""
    if (steps := steps_of(index)) is not None:
        found = _viewed(x, along, steps)
    elif (shift := _shift(index, along, costs)) is not None:
        found = Roll((-shift,), (along.place,)), [x]
    elif pieces := _pieces(index, along, costs):
        parts = [_viewed(x, along, piece) for piece in pieces]
        found = Concatenate(along.place), [part for part in parts if part is not None]
    else:
        return None
    return None if found is None else (Reshape(along.replaced(index.shape)), [found])


def _viewed(x: Expression, along: Axis, steps: Steps) -> Expression | None:
    """The selection of indices with such steps, as a view; None where more than two axes move."""
    moving = steps.moving
    if len(moving.steps) > 2:
        return None
    if moving.lengths == (along.length,):
        found = _turned(x, along, moving)
    elif len(moving.steps) == 2:
        found = _windows(x, along, moving)
    else:
        found = along.read(x, item_of(moving))
    if moving == steps:
        return found
    pairs = zip(steps.steps, steps.lengths, strict=True)
    once = along.replaced(tuple([length if step else 1 for step, length in pairs]))
    return BroadcastTo(along.replaced(steps.lengths)), [(Reshape(once), [found])]


def _windows(x: Expression, along: Axis, steps: Steps) -> Expression:
    """The selection along two axes, of which one counts windows and one their elements."""
    rising = steps.rising
    sizes, strides, dilations, order = _sliding(rising, along)
    block: Expression = (Transpose(along.to_end(1)), [along.read(x, rising.block)])
    found: Expression = (Windows(sizes, strides, dilations), [block])
    return _turned((Transpose(_inverse(order)), [found]), along, steps)


def _sliding(steps: Steps, along: Axis) -> tuple[Shape, Shape, Shape, Shape]:
    """Sizes, strides and dilations of windows, and the order that brings them to the end.

    What is in each comes first, if that is less than there are windows, as rows are long then.
    """
    order = along.to_end(2)
    (dilation, stride), (size, count) = steps.steps, steps.lengths
    if size > count:
        dilation, stride, size = stride, dilation, count
        order = (*order[:-2], order[-1], order[-2])
    return (size,), (stride,), (dilation,), order


def _inverse(order: Shape) -> Shape:
    return tuple([order.index(axis) for axis in range(len(order))])


def added(x: Expression, along: Axis, index: Any, costs: Costs) -> Expression | None:
    """Zeros to which ``x`` is added where regular indices, or a permutation, select."""
    if (steps := steps_of(index)) is not None:
        return _collected(x, along, steps, costs)
    row: Expression = (Reshape(along.replaced((index.size,))), [x])
    if (shift := _shift(index, along, costs)) is not None:
        return Roll((shift,), (along.place,)), [row]
    if pieces := _pieces(index, along, costs):
        ends = [*accumulate([math.prod(piece.lengths) for piece in pieces])]
        spans = map(Span, [0, *ends], ends, [None] * len(ends))
        parts = [(GetItem(along.pattern(span)), [row]) for span in spans]
        terms = [_collected(part, along, of, costs) for part, of in zip(parts, pieces, strict=True)]
        return reduce(lambda a, b: (Add(), [a, b]), [term for term in terms if term is not None])
    if index.size != along.length or np.bincount(index.ravel()).max() > 1:
        return None
    inverse = np.empty(index.size, index.dtype)
    inverse[index.ravel()] = np.arange(index.size)
    return GetItem(along.pattern(ARRAY)), [row, (Constant.of(inverse), ())]


def _collected(x: Expression, along: Axis, steps: Steps, costs: Costs) -> Expression | None:
    """Zeros to which ``x`` is added where such indices select; None where that takes longer."""
    moving = steps.moving
    if len(moving.steps) > 2:
        return None
    found: Expression = (Reshape(along.replaced(steps.lengths)), [x])
    pairs = [*zip(steps.steps, steps.lengths, strict=True)]
    if same := along.those([not step and length > 1 for step, length in pairs]):
        found = Sum(same), [found]
    found = Reshape(along.replaced(moving.lengths)), [found]
    if moving.lengths == (along.length,):
        return _turned(found, along, moving)
    if len(moving.steps) == 2:
        return _overlapping(found, along, moving, costs)
    return along.write(found, item_of(moving))


def _overlapping(x: Expression, along: Axis, steps: Steps, costs: Costs) -> Expression | None:
    """The transpose of ``_windows``; None where each window is few elements."""
    moved = math.prod(along.replaced(steps.lengths))
    if not _takes_longer(moved, min(steps.lengths), costs):
        return None
    rising = steps.rising
    _, strides, dilations, order = _sliding(rising, along)
    found: Expression = (Transpose(order), [_turned(x, along, steps)])
    length = len(range(along.length)[slice(*rising.block)])
    found = OverlapAdd((length,), strides, dilations), [found]
    return along.write((Transpose(_inverse(along.to_end(1))), [found]), rising.block)


def _turned(x: Expression, along: Axis, steps: Steps) -> Expression:
    """``x`` with the order of axes turned along which indices fall."""
    falling = along.those([step < 0 for step in steps.steps])
    return (Flip(falling), [x]) if falling else x


def item_of(steps: Steps) -> int | Span:
    """The index, or the slice, of what moves along one axis at most."""
    return steps.slice if steps.steps else steps.start


def _shift(index: Any, along: Axis, costs: Costs) -> int | None:
    """By how much all elements in a row are rolled, if they are."""
    whole = index.size == along.length and _takes_longer(along.moved(index), 2, costs)
    return shift_of(index) if whole else None


def _pieces(index: Any, along: Axis, costs: Costs) -> list[Steps]:
    """The pieces of indices, if few take less time than each element."""
    found = pieces_of(index, _MOST_PIECES)
    return found if _takes_longer(along.moved(index), len(found), costs) else []


def _takes_longer(size: int, parts: int, costs: Costs) -> bool:
    """True if to select each element takes longer than to put so many parts together."""
    return costs.taken * size > (parts + 1) * costs.call
