"""Selections by regular indices along an axis, as slices and windows; and sums by them.

A view takes the time of a call, however much it selects. What is added is added by blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.windows import Windows
from gradwire_engine.ops.patterns import FULL, Pattern, Span
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import Expression
from gradwire_engine.optimize.index_steps import Steps, steps_of
from gradwire_engine.tape import Shape


class Axis(NamedTuple):
    """The axis at ``place`` of an array of a shape, along which elements are selected."""

    shape: Shape
    place: int

    @property
    def length(self) -> int:
        """The number of elements to select from."""
        return self.shape[self.place]

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


def selected(x: Expression, along: Axis, index: Any) -> Expression | None:
    """The selection of regular indices along an axis."""
    steps = steps_of(index)
    found = None if steps is None else _viewed(x, along, steps)
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
    """The selection along two axes, of which one counts windows and one their elements.

    What is in each comes first, if that is less than there are windows, as rows are long then.
    """
    rising, order = steps.rising, along.to_end(2)
    (dilation, stride), (size, count) = rising.steps, rising.lengths
    if size > count:
        dilation, stride, size = stride, dilation, count
        order = (*order[:-2], order[-1], order[-2])
    block: Expression = (Transpose(along.to_end(1)), [along.read(x, rising.block)])
    found: Expression = (Windows((size,), (stride,), (dilation,)), [block])
    return _turned((Transpose(_inverse(order)), [found]), along, steps)


def _inverse(order: Shape) -> Shape:
    return tuple([order.index(axis) for axis in range(len(order))])


def added(x: Expression, along: Axis, index: Any) -> Expression | None:
    """Zeros to which ``x`` is added where regular indices select; None where windows overlap."""
    steps = steps_of(index)
    if steps is None or len(steps.moving.steps) > 1:
        return None
    moving = steps.moving
    found: Expression = (Reshape(along.replaced(steps.lengths)), [x])
    pairs = zip(steps.steps, steps.lengths, strict=True)
    if same := along.those([not step and length > 1 for step, length in pairs]):
        found = Sum(same), [found]
    found = Reshape(along.replaced(moving.lengths)), [found]
    if moving.lengths == (along.length,):
        return _turned(found, along, moving)
    return along.write(found, item_of(moving))


def _turned(x: Expression, along: Axis, steps: Steps) -> Expression:
    """``x`` with the order of axes turned along which indices fall."""
    falling = along.those([step < 0 for step in steps.steps])
    return (Flip(falling), [x]) if falling else x


def item_of(steps: Steps) -> int | Span:
    """The index, or the slice, of what moves along one axis at most."""
    return steps.slice if steps.steps else steps.start
