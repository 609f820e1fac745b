"""Constant arrays of indices: regular ones are replaced by slices, windows and rolls.

Where several arrays select along neighbouring axes, these are taken as one axis.  Measured by
*least squares: column by column* and *autoregression: windows*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, are_apart, indexed_shape
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable
from gradwire_engine.optimize.index_views import Axis, added, selected
from gradwire_engine.tape import Shape

#: Merging axes may copy an array, which is done for so many elements for each that is selected.
_MOST_COPIED = 2


class _Indices(NamedTuple):
    """Constant arrays of indices as one, and what they select from as one axis.

    ``basic`` takes the axes whole that the arrays are for, which are merged then.
    """

    basic: Pattern
    along: Axis
    index: Any

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
        return cls(basic, Axis(merged, first), index)

    @property
    def is_partial(self) -> bool:
        """True if ``basic`` selects, too."""
        return any(item != FULL for item in self.basic)


def _gather(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """Elements at constant indices: by views, if these are regular, else along one axis."""
    assert isinstance(op, GetItem)
    x, *arrays = args
    indices = _Indices.of(op.pattern, values.shape(x), arrays, values) if arrays else None
    if indices is None or type(values.code[x].op) is Constant:
        return None
    shape = values.shape(x)
    result = indexed_shape(shape, op.pattern, tuple([values.shape(slot) for slot in arrays]))
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


RULES: Mapping[type[Op], Rule] = {GetItem: _gather, ScatterAdd: _scatter}
