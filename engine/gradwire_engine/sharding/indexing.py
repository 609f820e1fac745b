"""Indices that rows have, and indices into what each row has.

An index array of the numbers of all rows, beside others, selects in each row by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradwire_engine.errors import ShardingError
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span, indexed_shape
from gradwire_engine.sharding.values import (
    Along,
    Division,
    Part,
    Value,
    as_rows,
    moved,
    spread_of,
)
from gradwire_engine.sharding.views import index_into_rows
from gradwire_engine.tape import Shape, Type


class _Selected(NamedTuple):
    """A selection of this shard: its pattern and index arrays, and where its rows come out."""

    pattern: Pattern
    arrays: Sequence[Var]
    along: Along


def getitem(d: Division, op: GetItem, values: Sequence[Value], whole: Type) -> Value:
    """Elements of each row, or for each row elements of what all shards have."""
    x, *arrays = values
    if x.rows is None:
        selected = _for_rows(d, op.pattern, x.shape, arrays)
    else:
        selected = _in_rows(d, op.pattern, x.shape, arrays, x.rows)
    return Value(GetItem(selected.pattern)(x.var, *selected.arrays), whole, selected.along)


def scatter_add(d: Division, op: ScatterAdd, values: Sequence[Value], whole: Type) -> Value:
    """Rows are added to elements of their own, or in each shard to elements that all have."""
    v, *arrays = values
    region = _region(op.pattern, op.shape, arrays)
    for along in _axes(d, op.shape):
        selected = _try_in_rows(d, op.pattern, op.shape, arrays, along, v, region)
        if selected is not None:
            own = ScatterAdd(selected.pattern, d.shape(op.shape, along))
            return Value(own(_added(v, region, selected), *selected.arrays), whole, along)
    if not any(array.rows for array in arrays):
        raise index_into_rows()
    selected = _for_rows(d, op.pattern, op.shape, arrays)
    return Value(op(_added(v, region, selected), *selected.arrays), whole, Part.OF_SUM)


def setitem(d: Division, op: SetItem, values: Sequence[Value], whole: Type) -> Value:
    """Elements of each row are replaced."""
    x, v, *arrays = values
    region = _region(op.pattern, x.shape, arrays)
    axes = _axes(d, x.shape) if x.rows is None else [x.rows]
    for along in axes:
        selected = _try_in_rows(d, op.pattern, x.shape, arrays, along, v, region)
        if selected is not None:
            operands = as_rows(x, along), _added(v, region, selected), *selected.arrays
            return Value(SetItem(selected.pattern)(*operands), whole, along)
    raise index_into_rows()


def _for_rows(d: Division, pattern: Pattern, shape: Shape, arrays: Sequence[Value]) -> _Selected:
    """The selection from what all shards have by index arrays that have rows."""
    ndim = max(array.ndim for array in arrays)
    firsts = [ndim - array.ndim for array in arrays]
    axis, each = spread_of(arrays, firsts)
    own, probed = [], []
    for array, first in zip(arrays, firsts, strict=True):
        along = Along(axis - first, each)
        own.append(as_rows(array, along))
        long = along.axis >= 0 and (array.rows or array.shape[along.axis] > 1)
        probed.append(d.probed(array.shape, along.axis) if long else array.shape)
    before = _region(pattern, shape, arrays)
    place = moved(before, indexed_shape(shape, pattern, tuple(probed)))
    assert place is not None
    return _Selected(pattern, own, Along(place, each))


def _in_rows(
    d: Division, pattern: Pattern, shape: Shape, arrays: Sequence[Value], along: Along
) -> _Selected:
    """The selection from an array of rows: from each row by itself.

    Raises: ``ShardingError`` where it takes some of the rows, or from each row by other rows.
    """
    axis, each = along
    at = [i for i, item in enumerate(pattern) if item is not None][axis]
    item = pattern[at]
    if item == ARRAY:
        number = pattern[:at].count(ARRAY)
        counter = _counter(arrays[number])
        if counter is None or each != 1:
            raise index_into_rows()
        counted = [*arrays[:number], counter, *arrays[number + 1 :]]
        return _for_rows(d, pattern, shape, counted)
    everything = range(shape[axis])
    if not isinstance(item, Span) or everything[slice(*item)] != everything:
        raise index_into_rows()
    if any(array.rows for array in arrays):
        raise ShardingError(
            "this selects from each row by other rows",
            hint="index the rows with arange over all of them, too",
        )
    whole = (*pattern[:at], FULL, *pattern[at + 1 :])
    kinds = tuple([array.shape for array in arrays])
    probed = indexed_shape(d.probed(shape, axis), whole, kinds)
    place = moved(indexed_shape(shape, whole, kinds), probed)
    assert place is not None
    return _Selected(whole, [array.var for array in arrays], Along(place, each))


def _try_in_rows(
    d: Division,
    pattern: Pattern,
    shape: Shape,
    arrays: Sequence[Value],
    along: Along,
    v: Value,
    region: Shape,
) -> _Selected | None:
    """The selection if rows are ``along`` an axis of ``shape`` and where ``v`` has them."""
    try:
        selected = _in_rows(d, pattern, shape, arrays, along)
        if v.rows is None or v.rows == _in(v, region, selected):
            return selected
    except ShardingError:
        pass
    return None


def _axes(d: Division, shape: Shape) -> list[Along]:
    """The axes that may be those of rows."""
    found = [(axis, d.each(length)) for axis, length in enumerate(shape)]
    return [Along(axis, each) for axis, each in found if each is not None]


def _counter(array: Value) -> Value | None:
    """The numbers of the rows, if an index array is those."""
    return next((reading for reading in array.also if reading.counts), None)


def _region(pattern: Pattern, shape: Shape, arrays: Sequence[Value]) -> Shape:
    return indexed_shape(shape, pattern, tuple([array.shape for array in arrays]))


def _in(v: Value, region: Shape, selected: _Selected) -> Along:
    """Where what is broadcast to a selection has its rows."""
    axis, each = selected.along
    return Along(axis - (len(region) - v.ndim), each)


def _added(v: Value, region: Shape, selected: _Selected) -> Var:
    return as_rows(v, _in(v, region, selected))
