"""Operations on values of a shard: one rule for rows, by labels of axes, and one for parts of sums.

An operation states which axes of its operands belong together, and which it mixes: axes that are
aligned or numbered, that it names or that its labels sum over.  Along an axis that it does not mix
each row is by itself; where that axis comes out, the operation's type rule says, asked for one
more element.  Over an axis that it sums over, shards give parts of sums.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

from gradwire_engine.errors import ArgumentError, EngineError, ShardingError
from gradwire_engine.loops.custom_vjp_tape import CustomVjpTape
from gradwire_engine.loops.stacks import AddStacks, Rows, Stacked
from gradwire_engine.ops import batching
from gradwire_engine.ops.arrays.creation import Progression
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.shape import reshape as as_shape
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Assigned, Identity, Pack, StopGradient
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solution
from gradwire_engine.ops.patterns import ARRAY, FULL, Span
from gradwire_engine.ops.pointwise.arithmetic import Divide, Multiply
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.reductions.order_statistics import OrderStatistic
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.ops.sequences.bins import SearchSorted
from gradwire_engine.sharding.values import Along, Division, Part, Spread, Value, as_rows
from gradwire_engine.tape import INEXACT, ArrayType, Shape, StackType, TupleType, Type

#: Labels of an operand's axes: equal ones belong together; along those without, rows are mixed.
_Axes: TypeAlias = Sequence[Hashable]
#: Operations that sum over the labels which their results lack.
_SUMMING = (Sum, Contract, MatMul)
#: Operations that are linear in all operands together.
_TOGETHER = (Concatenate, Stack, Placed, Progression, AddStacks, Pack)
#: Operations that are linear in one operand at a time: in which ones.
_FACTORS: dict[type[Op], tuple[int, ...]] = {
    Multiply: (0, 1),
    Divide: (0,),
    Contract: (0, 1),
    MatMul: (0, 1),
}
#: Operations that programs know by other names.
_PHRASES: dict[type[Op], str] = {
    Pad: "a border",
    Rows: "a loop",
    OrderStatistic: "an order statistic",
}


def applied(d: Division, op: Op, values: Sequence[Value], whole: Type) -> Value:
    """``op`` on values of which some have rows or are parts of sums.

    Raises: ``ShardingError`` where the result is neither.
    """
    if isinstance(op, Assigned):
        raise ShardingError(
            "what is assigned to a variable does not add up over shards",
            hint="give the new value another name",
        )
    if isinstance(op, CustomVjpTape):
        raise ShardingError(
            "in a loop a derivative by a rule of its own is not known to add up over shards",
            hint="let functions of the rows have the derivatives of their operations",
        )
    if any(value.spread is Part.OF_SUM for value in values):
        return _of_parts(d, op, values, whole)
    try:
        if isinstance(op, Reshape):
            return _reshaped(d, values[0], whole)
        if isinstance(op, ScatterAdd | SetItem):
            return _written(d, op, values, whole)
        own, operands, spread = _divided(d, op, values, whole)
        return Value(own(*operands), whole, spread)
    except ArgumentError as error:  # it does not take no rows at all
        raise _unknown(op) from error


# Rows


def _divided(
    d: Division, op: Op, values: Sequence[Value], whole: Type
) -> tuple[Op, list[Var], Spread]:
    """The operation of this shard, its operands, and how the result is spread."""
    if isinstance(op, GetItem) and values[0].rows is not None:
        op, values = _whole_rows(op, values)
    axes = _labels(op, values, whole)
    found = {
        (labels[value.rows.axis], value.rows.each)
        for value, labels in zip(values, axes, strict=True)
        if value.rows is not None
    }
    if any(label is None for label, _ in found):
        raise _index_into_rows() if isinstance(op, Slice) else over_rows(op)
    if len(found) != 1:
        raise ShardingError(
            "this combines each row with other rows",
            hint="pairs of rows need the rows of other shards",
        )
    ((label, each),) = found
    places = [[*labels].index(label) if label in labels else -1 for labels in axes]
    pairs = [*zip(values, places, strict=True)]
    if isinstance(op, BroadcastTo | Slice):
        assert isinstance(label, int)
        axis: int | None = label % len(_shapes(whole)[0])
        field = "stops" if isinstance(op, Slice) else "shape"
        own = d.shape(getattr(op, field), Along(axis, each))  # type: ignore[arg-type]
        op = replace(op, **{field: own})  # type: ignore[arg-type]
    else:
        longer = op.infer(*[_longer(*pair) for pair in pairs])  # type: ignore[arg-type]
        axis = _changed(_shapes(whole), _shapes(longer))
    if axis is None and isinstance(op, _SUMMING):
        spread: Spread = Part.OF_SUM
    elif axis is not None and {shape[axis] for shape in _shapes(whole)} == {each * d.rows}:
        spread = Along(axis, each)
    else:
        raise over_rows(op)
    return op, [as_rows(value, Along(place, each)) for value, place in pairs], spread


def _labels(op: Op, values: Sequence[Value], whole: Type) -> Sequence[_Axes]:
    """Labels of the axes of all operands."""
    ndims = [value.ndim for value in values]
    aligned = [[*range(-ndim, 0)] for ndim in ndims]
    numbered = [[*range(ndim)] for ndim in ndims]
    if isinstance(op, Contract):
        return op.labels[:2]
    if isinstance(op, MatMul):
        left, right = ([*range(2 - ndim, 0)] for ndim in ndims)
        return [*left, "row", "inner"][-ndims[0] :], [*right, "inner", "column"][: ndims[1]]
    if isinstance(op, Solution):
        return [*aligned[0][:-2], None, None], [*aligned[1][:-2], None, "column"]
    if isinstance(op, OrderStatistic):
        return [*range(1 - ndims[0], 0), None], aligned[1]
    if isinstance(op, SearchSorted):
        return [None], aligned[1]
    if isinstance(op, GetItem):
        taken = [item for item in op.pattern if item is not None]
        return [i if item == FULL else None for i, item in enumerate(taken)], *aligned[1:]
    if op.elementwise or isinstance(op, Identity | BroadcastTo):
        return aligned
    if isinstance(op, Slice):
        bounds = zip(numbered[0], op.starts, op.stops, values[0].shape, strict=True)
        return ([None if start or stop < n else i for i, start, stop, n in bounds],)
    if isinstance(op, Pad):
        borders = zip(numbered[0], op.before, op.after, strict=True)
        return ([None if before or after else i for i, before, after in borders],)
    if isinstance(op, Rows):
        return ([None if i == op.axis else i for i in numbered[0]],)
    if isinstance(op, Transpose | Stacked | AddStacks):
        return numbered
    if type(op).batch is batching.along_axes:
        return _beside_axes(op, numbered, whole)
    if type(op).batch is batching.over_stacks:
        return _of_stacks(op, values, whole)
    raise _unknown(op)


def _beside_axes(op: Any, numbered: Sequence[_Axes], whole: Type) -> Sequence[_Axes]:
    """All axes but those that an operation names, unless that is the result's, or sums over it."""
    if len(_shapes(whole)[0]) > len(numbered[0]) or isinstance(op, Sum):
        return numbered
    axes = op.axes if "axes" in op.parameters else (op.axis,)
    return [[None if i in axes else i for i in labels] for labels in numbered]


def _of_stacks(op: Op, values: Sequence[Value], whole: Type) -> Sequence[_Axes]:
    """The axes up to the rows', if the operation takes and gives what is left without these."""
    ndim = max(value.ndim for value in values)
    last = max([value.rows.axis - value.ndim for value in values if value.rows is not None])
    kinds = [_of_shape(value, value.shape[max(value.ndim + last + 1, 0) :]) for value in values]
    with suppress(EngineError, LookupError, ValueError):  # axes that it takes for granted miss
        left = _shapes(op.infer(*kinds))  # type: ignore[arg-type]
        if left == [shape[ndim + last + 1 :] for shape in _shapes(whole)]:
            return [[i if i <= last else None for i in range(-value.ndim, 0)] for value in values]
    raise over_rows(op)


def _whole_rows(op: GetItem, values: Sequence[Value]) -> tuple[Op, Sequence[Value]]:
    """An index into all rows: as one that takes them whole, or by their numbers beside others.

    Raises: ``ShardingError`` where it takes some of the rows.
    """
    x, *arrays = values
    assert x.rows is not None
    pattern = op.pattern
    at = [i for i, item in enumerate(pattern) if item is not None][x.rows.axis]
    if pattern[at] == ARRAY:
        number = pattern[:at].count(ARRAY)
        counter = next((reading for reading in arrays[number].also if reading.counts), None)
        if counter is not None and x.rows.each == 1:
            arrays[number] = counter
            return op, [replace(x, spread=None), *arrays]
    elif isinstance(pattern[at], Span):
        everything = range(x.shape[x.rows.axis])
        if everything[slice(*pattern[at])] == everything:
            return GetItem((*pattern[:at], FULL, *pattern[at + 1 :])), values
    raise _index_into_rows()


def _written(d: Division, op: Any, values: Sequence[Value], whole: Type) -> Value:
    """The elements that rows are added to or replace: their own, or those that all shards have."""
    assert isinstance(whole, ArrayType)
    before = values[: isinstance(op, SetItem)]
    v, *arrays = values[len(before) :]
    select = GetItem(op.pattern)
    region = select.infer(whole, *[_of_shape(array, array.shape) for array in arrays])  # type: ignore[arg-type]
    axes = [(axis, d.each(length)) for axis, length in enumerate(whole.shape)]
    spreads: list[Spread] = [Along(axis, each) for axis, each in axes if each is not None]
    if any(x.rows for x in before):
        spreads = [before[0].rows]
    elif not before and any(array.rows for array in arrays):
        spreads.append(None)
    for spread in spreads:
        try:
            target = Value(v.var, whole, spread)
            made, (_, *operands), inside = _divided(d, select, [target, *arrays], region)
            assert isinstance(inside, Along)
            added = as_rows(v, Along(inside.axis - region.ndim + v.ndim, inside.each))
            if not isinstance(spread, Along):
                return Value(op(added, *operands), whole, Part.OF_SUM)
            first = [as_rows(x, spread) for x in before]
        except ShardingError:
            if spread is None:
                raise
            continue
        shape = {} if before else {"shape": d.shape(op.shape, spread)}
        own = replace(op, pattern=made.pattern, **shape)  # type: ignore[attr-defined]
        return Value(own(*first, added, *operands), whole, spread)
    raise _index_into_rows()


def _reshaped(d: Division, x: Value, whole: Type) -> Value:
    """Rows stay together if an axis begins where theirs did, and is as long as all rows."""
    assert isinstance(whole, ArrayType)
    assert x.rows is not None
    before = prod(x.shape[: x.rows.axis])
    for axis, length in enumerate(whole.shape):
        each = d.each(length)
        if each is not None and prod(whole.shape[:axis]) == before:
            along = Along(axis, each)
            return Value(as_shape(x.var, d.shape(whole.shape, along)), whole, along)
    raise ShardingError(
        "this shape tears the rows apart", hint="keep the rows along one axis of their own"
    )


def _of_shape(value: Value, shape: Shape) -> Type:
    """The type of a value with another shape."""
    kind = value.whole
    if isinstance(kind, StackType):
        return StackType(kind.item._replace(shape=shape))
    assert isinstance(kind, ArrayType)
    return kind._replace(shape=shape)


def _longer(value: Value, axis: int) -> Type:
    """The type of a value with one element more along an axis, if it is not broadcast there."""
    shape = value.shape
    if axis < 0 or (shape[axis] == 1 and value.rows is None):
        return value.whole
    return _of_shape(value, (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :]))


def _shapes(kind: Type) -> list[Shape]:
    """The shapes of all results."""
    return [item.shape for item in (kind.items if isinstance(kind, TupleType) else (kind,))]


def _changed(before: Sequence[Shape], after: Sequence[Shape]) -> int | None:
    """The one axis along which all results differ, if there is one."""
    found: set[int | None] = set()
    for one, other in zip(before, after, strict=True):
        axes = [i for i, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
        found.add(axes[0] if len(axes) == 1 else None)
    return found.pop() if len(found) == 1 else None


def over_rows(op: Op) -> ShardingError:
    """The error of a reduction or an order over the rows that does not add up."""
    return ShardingError(
        f"{_PHRASES.get(type(op), op.name)} over the rows is not a sum of what shards give",
        hint="sums, means and products that add up over the rows are divided into shards",
    )


def _index_into_rows() -> ShardingError:
    """The error of what takes some of the rows."""
    return ShardingError(
        "an index into the rows means other rows in each shard",
        hint="multiply by a mask that is a variable with a value for each row",
    )


def _unknown(op: Op) -> ShardingError:
    return ShardingError(
        f"{op.name} of the rows is not known to be one of each row by itself",
        hint="compute its result first, and send it as a variable of the rows",
    )


# Parts of sums


def _of_parts(d: Division, op: Op, values: Sequence[Value], whole: Type) -> Value:
    """An operation that is linear in parts of sums gives parts again, and nothing else does.

    What is the same in all shards is a term that the first shard counts, and a factor in all.
    """
    if any(value.rows for value in values):
        raise ShardingError(
            "this combines the rows with a sum over all rows",
            hint="compute that sum first, and send it as a variable",
        )
    parts = [i for i, value in enumerate(values) if value.spread is Part.OF_SUM]
    terms = _terms(op, len(values))
    factors = (1,) if isinstance(op, Solution) else _FACTORS.get(type(op), ())
    if {*parts} <= {*terms}:
        pairs = enumerate(values)
        operands = [d.counted(value) if i in terms else value.var for i, value in pairs]
    elif len(parts) == 1 and parts[0] in factors:
        operands = [value.var for value in values]
    else:
        what = f"a {op.name} of two sums" if len(parts) > 1 else f"{op.name} of a sum"
        hint = "only what is linear may follow a sum over all rows"
        if isinstance(op, Divide):
            hint += "; a divisor without parameters can be computed before, and sent"
        raise ShardingError(f"{what} over all rows is not a sum of what shards give", hint=hint)
    return Value(op(*operands), whole, Part.OF_SUM)


def _terms(op: Op, count: int) -> range:
    """The operands in which an operation is linear together."""
    if isinstance(op, Where):
        return range(1, 3)
    rounded = isinstance(op, AsType) and op.dtype.kind not in INEXACT
    if rounded or not (op.linear or isinstance(op, StopGradient)):
        return range(0)
    if isinstance(op, SetItem):
        return range(2)
    together = op.elementwise or isinstance(op, _TOGETHER)
    return range(count if together else 1)  # indices follow
