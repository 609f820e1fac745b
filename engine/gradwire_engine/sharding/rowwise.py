"""Operations on each row by itself: elementwise ones, along other axes, and on stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire_engine.errors import EngineError
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.sharding.values import (
    Along,
    Division,
    Part,
    Value,
    as_rows,
    over_rows,
    spread_of,
)
from gradwire_engine.tape import ArrayType, TupleType, Type


def elementwise(d: Division, op: Op, values: Sequence[Value], whole: Type) -> Value:
    """Element i of the result depends on element i of the operands: rows stay where they are."""
    assert isinstance(whole, ArrayType)
    firsts = [whole.ndim - value.ndim for value in values]
    axis, each = along = spread_of(values, firsts)
    pairs = zip(values, firsts, strict=True)
    operands = [as_rows(value, Along(axis - first, each)) for value, first in pairs]
    return Value(op(*operands), whole, along)


def along_axes(d: Division, op: Any, values: Sequence[Value], whole: Type) -> Value:
    """Operations that name their axes treat what is along all others by itself."""
    assert isinstance(whole, ArrayType)
    axis, each = along = spread_of(values, [0] * len(values))
    axes = op.axes if "axes" in op.parameters else (op.axis,)
    grown = whole.ndim - values[0].ndim
    if grown > 0:  # its axis is the result's
        after = axis + (axes[0] <= axis)
    elif axis not in axes:
        after = axis - (sum(place < axis for place in axes) if grown else 0)
    elif type(op) is Sum:
        return Value(op(values[0].var), whole, Part.OF_SUM)
    else:
        raise over_rows(op.name)
    return Value(op(*[as_rows(value, along) for value in values]), whole, Along(after, each))


def over_stacks(d: Division, op: Op, values: Sequence[Value], whole: Type) -> Value:
    """Operations on the last axes treat each element of the stacks before these by itself.

    The rows are along an axis of the stacks if the operation takes what is left without it and
    without the axes before it, and gives what is left of the result.
    """
    axis, each = along = spread_of(values, [0] * len(values))
    left = [value.ndim - (axis + 1) * (value.rows is not None) for value in values]
    ndim = max(left)
    aligned = all(n == ndim for n, value in zip(left, values, strict=True) if value.rows)
    given = _taken(op, [_last(value, ndim) for value in values])
    stack, made = axis + 1, _items(whole)
    fits = [item.shape[stack:] for item in made] == [item.shape for item in given]
    if not (aligned and fits and all(item.shape[axis] == each * d.rows for item in made)):
        raise over_rows(op.name)
    firsts = [ndim + stack - value.ndim for value in values]
    pairs = zip(values, firsts, strict=True)
    return Value(op(*[as_rows(x, Along(axis - first, each)) for x, first in pairs]), whole, along)


def _last(value: Value, ndim: int) -> ArrayType:
    """The type of what is along the last axes, so many if there are."""
    assert isinstance(value.whole, ArrayType)
    return value.whole._replace(shape=value.shape[max(value.ndim - ndim, 0) :])


def _taken(op: Op, kinds: Sequence[ArrayType]) -> Sequence[Any]:
    """The types that an operation gives of others; none where it does not take these."""
    try:
        return _items(op.infer(*kinds))
    except (EngineError, LookupError, ValueError):  # axes that it takes for granted are missing
        return ()


def _items(kind: Type) -> Sequence[Any]:
    return kind.items if isinstance(kind, TupleType) else (kind,)
