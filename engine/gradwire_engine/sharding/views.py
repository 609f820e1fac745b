"""Rows in other views of the same elements, with others around them, and in stacks of passes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradwire_engine.errors import ShardingError
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.shape import reshape as as_shape
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.stacks import AddStacks, Rows, Stacked
from gradwire_engine.sharding.values import Along, Division, Value, over_rows, spread_of
from gradwire_engine.tape import ArrayType, Type


def index_into_rows() -> ShardingError:
    """The error of what takes some of the rows."""
    return ShardingError(
        "an index into the rows means other rows in each shard",
        hint="multiply by a mask that is a variable with a value for each row",
    )


def reshape(d: Division, op: Reshape, values: Sequence[Value], whole: Type) -> Value:
    """Rows stay together if an axis begins where theirs did, and is as long as all rows."""
    assert isinstance(whole, ArrayType)
    (x,) = values
    assert x.rows is not None
    before = math.prod(x.shape[: x.rows.axis])
    for axis, length in enumerate(whole.shape):
        each = d.each(length)
        if each is not None and math.prod(whole.shape[:axis]) == before:
            along = Along(axis, each)
            return Value(as_shape(x.var, d.shape(whole.shape, along)), whole, along)
    raise ShardingError(
        "this shape tears the rows apart", hint="keep the rows along one axis of their own"
    )


def transpose(d: Division, op: Transpose, values: Sequence[Value], whole: Type) -> Value:
    """Rows go where their axis goes."""
    (x,) = values
    assert x.rows is not None
    axis, each = x.rows
    return Value(op(x.var), whole, Along(op.axes.index(axis), each))


def broadcast(d: Division, op: BroadcastTo, values: Sequence[Value], whole: Type) -> Value:
    """Rows are repeated along other axes."""
    assert isinstance(whole, ArrayType)
    (x,) = values
    assert x.rows is not None
    along = Along(x.rows.axis + whole.ndim - x.ndim, x.rows.each)
    return Value(d.b.broadcast(x.var, d.shape(whole.shape, along)), whole, along)


def block(d: Division, op: Slice, values: Sequence[Value], whole: Type) -> Value:
    """A block of all rows is one of this shard's."""
    assert isinstance(whole, ArrayType)
    (x,) = values
    assert x.rows is not None
    axis, each = x.rows
    if whole.shape[axis] != each * d.rows:
        raise index_into_rows()
    return Value(Slice(op.starts, d.shape(op.stops, x.rows))(x.var), whole, x.rows)


def pad(d: Division, op: Pad, values: Sequence[Value], whole: Type) -> Value:
    """Zeros around each row."""
    (x,) = values
    assert x.rows is not None
    if op.before[x.rows.axis] or op.after[x.rows.axis]:
        raise over_rows("a border")
    return Value(op(x.var), whole, x.rows)


def rows(d: Division, op: Rows, values: Sequence[Value], whole: Type) -> Value:
    """The passes of a loop take parts of each row."""
    (x,) = values
    assert x.rows is not None
    axis, each = x.rows
    if axis == op.axis:
        raise over_rows("a loop")
    return Value(op(x.var), whole, Along(axis - (op.axis < axis), each))


def stacked(d: Division, op: Stacked, values: Sequence[Value], whole: Type) -> Value:
    """The passes of a loop have written parts of each row."""
    (x,) = values
    assert x.rows is not None
    axis, each = x.rows
    return Value(op(x.var), whole, Along(axis + (op.axis <= axis), each))


def add_stacks(d: Division, op: AddStacks, values: Sequence[Value], whole: Type) -> Value:
    """Items that all have their rows along one axis."""
    along = spread_of(values, [0] * len(values))
    if any(value.rows is None for value in values):
        raise over_rows("a loop")
    return Value(op(*[value.var for value in values]), whole, along)
