"""Constant arrays of indices: regular ones are replaced by slices, windows and rolls.

Where several arrays select along neighbouring axes, these are taken as one axis.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span, are_apart, indexed_shape
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable
from gradwire_engine.optimize.index_steps import Steps
from gradwire_engine.optimize.index_views import Axis, added, item_of, selected
from gradwire_engine.tape import Shape

#: Merging axes may copy an array, which is done for so many elements for each that is selected.
_MOST_COPIED = 2


class _Indices(NamedTuple):
    """Constant arrays of indices, and what they select from as one axis.

    ``basic`` takes the axes of ``lengths`` whole that the arrays are for, which are merged then.
    """

    basic: Pattern
    lengths: Shape
    along: Axis
    #: One for all arrays.
    index: Any
    #: Those of each array.
    each: Sequence[Any]

    @classmethod
    def of(
        cls, pattern: Pattern, shape: Shape, args: Sequence[int], values: ValueTable
    ) -> _Indices | None:
        """None where one is not known, or out of range, or they do not stand side by side."""
        if ARRAY not in pattern or are_apart(pattern):
            return None
        arrays = [values.value(slot) for slot in args]
        if any(array is None or array.dtype.kind != "i" for array in arrays):
            return None
        axes = zip(shape, [item for item in pattern if item is not None], strict=True)
        lengths = tuple([length for length, item in axes if item == ARRAY])
        whole = [np.asarray(array, "int64") for array in arrays]
        pairs = [*zip(whole, lengths, strict=True)]
        if any(not a.size or a.min() < -n or a.max() >= n for a, n in pairs):
            return None
        each = np.broadcast_arrays(*[np.where(a < 0, a + n, a) for a, n in pairs])
        basic = tuple([FULL if item == ARRAY else item for item in pattern])
        left = indexed_shape(shape, basic, ())
        ahead = pattern[: pattern.index(ARRAY)]
        first = sum([type(item) is not int for item in ahead])
        merged = (*left[:first], math.prod(lengths), *left[first + len(lengths) :])
        index = np.asarray(np.ravel_multi_index(each, lengths))
        return cls(basic, lengths, Axis(merged, first), index, each)

    @property
    def is_of_one_axis(self) -> bool:
        """True if nothing is selected but along one axis."""
        return len(self.each) == 1 and not self.is_partial

    @property
    def is_partial(self) -> bool:
        """True if ``basic`` selects, too."""
        return any(item != FULL for item in self.basic)

    @property
    def sides(self) -> list[int | Span] | None:
        """The selection of each array by itself, for slices whose axes come in their order."""
        found: list[int | Span] = []
        last = -1
        covered = 0
        for array in self.each:
            steps = Steps.of(array)
            axes = [axis for axis, step in enumerate(steps.steps) if step] if steps else [-1, -1]
            if steps is None or len(axes) > 1 or (axes and axes[0] <= last):
                return None
            last = axes[0] if axes else last
            covered += len(axes)
            found.append(item_of(steps.moving))
        return found if covered == sum([length > 1 for length in self.index.shape]) else None

    def sliced(self, pattern: Pattern) -> Pattern | None:
        """The pattern with slices and integers in its gaps, if the arrays are such."""
        sides = self.sides
        if sides is None:
            return None
        following = iter(sides)
        return tuple([next(following) if item == ARRAY else item for item in pattern])


def _gather(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Elements at constant indices: by views, if these are regular, else along one axis."""
    assert isinstance(op, GetItem)
    x, *arrays = args
    indices = _Indices.of(op.pattern, values.shape(x), arrays, values) if arrays else None
    if indices is None or type(values.code[x].op) is Constant:
        return None
    shape = values.shape(x)
    result = indexed_shape(shape, op.pattern, tuple([values.shape(slot) for slot in arrays]))
    pattern = None if indices.is_of_one_axis else indices.sliced(op.pattern)
    if pattern is not None:
        return Reshape(result), [(GetItem(pattern), [x])]
    along, index = indices.along, indices.index
    whole: Expression = (GetItem(indices.basic), [x]) if indices.is_partial else x
    whole = Reshape(along.shape), [whole]
    found = selected(whole, along, index, values.costs)
    if found is None and len(arrays) > 1 and values.size(x) <= _MOST_COPIED * index.size:
        found = GetItem(along.pattern(ARRAY)), [whole, (Constant.of(index), ())]
    return found and (Reshape(result), [found])


def _scatter(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Sums at constant indices: by blocks, if these are regular, else along one axis."""
    assert isinstance(op, ScatterAdd)
    x, *arrays = args
    indices = _Indices.of(op.pattern, op.shape, arrays, values) if arrays else None
    if indices is None:
        return None
    region = indexed_shape(op.shape, op.pattern, tuple([values.shape(slot) for slot in arrays]))
    if values.shape(x) != region:
        return None
    pattern = None if indices.is_of_one_axis else indices.sliced(op.pattern)
    if pattern is not None:
        part = indexed_shape(op.shape, pattern, ())
        return ScatterAdd(pattern, op.shape), [(Reshape(part), [x])]
    along, index = indices.along, indices.index
    whole: Expression = (Reshape(along.replaced(index.shape)), [x])
    found = added(whole, along, index, values.costs)
    if found is None and len(arrays) > 1:
        found = ScatterAdd(along.pattern(ARRAY), along.shape), [whole, (Constant.of(index), ())]
    if found is None:
        return None
    taken = indexed_shape(op.shape, indices.basic, ())
    found = Reshape(taken), [found]
    return (ScatterAdd(indices.basic, op.shape), [found]) if indices.is_partial else found


def _replace(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Elements replaced at constant indices that are slices."""
    assert isinstance(op, SetItem)
    x, v, *arrays = args
    indices = _Indices.of(op.pattern, values.shape(x), arrays, values) if arrays else None
    pattern = None if indices is None else indices.sliced(op.pattern)
    if pattern is None:
        return None
    shape = values.shape(x)
    region = indexed_shape(shape, op.pattern, tuple([values.shape(slot) for slot in arrays]))
    part: Expression = (Reshape(indexed_shape(shape, pattern, ())), [(BroadcastTo(region), [v])])
    return SetItem(pattern), [x, part]


RULES: Mapping[type[Op], Rule] = {GetItem: _gather, ScatterAdd: _scatter, SetItem: _replace}
