"""The rule for rows of each family of operations, by what an operation is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradwire_engine.errors import ArgumentError, ShardingError
from gradwire_engine.ops import batching
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Assigned, Identity
from gradwire_engine.ops.custom_vjp import CustomVjpTape
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solution
from gradwire_engine.ops.reductions.order_statistics import OrderStatistic
from gradwire_engine.ops.sequences.bins import SearchSorted
from gradwire_engine.ops.stacks import AddStacks, Rows, Stacked
from gradwire_engine.sharding import indexing, products, rowwise, views
from gradwire_engine.sharding.linear import of_parts
from gradwire_engine.sharding.values import Along, Division, Part, Value, over_rows
from gradwire_engine.tape import Type

#: From the operands of an operation, and the type of its result for all rows, to its result.
Rule: TypeAlias = Callable[[Division, Any, Sequence[Value], Type], Value]


def sought(d: Division, op: SearchSorted, values: Sequence[Value], whole: Type) -> Value:
    """Each row is sought in a vector that all shards have."""
    among, v = values
    if among.spread is not None:
        raise ShardingError("this seeks among the rows", hint="send sorted edges as a variable")
    return Value(op(among.var, v.var), whole, v.spread)


def in_order(d: Division, op: OrderStatistic, values: Sequence[Value], whole: Type) -> Value:
    """An element of each row's own, by its place in their order."""
    x, place = values
    if place.spread is not None or x.rows is None or x.rows.axis == x.ndim - 1:
        raise over_rows("an order statistic")
    along = Along(x.rows.axis + len(whole.shape) - x.ndim + 1, x.rows.each)  # type: ignore[union-attr]
    return Value(op(x.var, place.var), whole, along)


#: The rules of classes with axes of their own.
_RULES: dict[type[Op], Rule] = {
    Reshape: views.reshape,
    Transpose: views.transpose,
    BroadcastTo: views.broadcast,
    Slice: views.block,
    Pad: views.pad,
    Rows: views.rows,
    Stacked: views.stacked,
    AddStacks: views.add_stacks,
    GetItem: indexing.getitem,
    ScatterAdd: indexing.scatter_add,
    SetItem: indexing.setitem,
    Contract: products.contract,
    MatMul: products.matmul,
    SearchSorted: sought,
    OrderStatistic: in_order,
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
        return of_parts(d, op, values, whole)
    try:
        return rule(op)(d, op, values, whole)
    except ArgumentError as error:  # it does not take no rows at all
        raise _unknown(op) from error


def rule(op: Op) -> Rule:
    """The rule for rows of ``op``."""
    if type(op) in _RULES:
        return _RULES[type(op)]
    if isinstance(op, Solution):
        return products.solution
    if op.elementwise or isinstance(op, Identity):
        return rowwise.elementwise
    if type(op).batch is batching.along_axes:
        return rowwise.along_axes
    if type(op).batch is batching.over_stacks:
        return rowwise.over_stacks
    raise _unknown(op)


def _unknown(op: Op) -> ShardingError:
    return ShardingError(
        f"{op.name} of the rows is not known to be one of each row by itself",
        hint="compute its result first, and send it as a variable of the rows",
    )
