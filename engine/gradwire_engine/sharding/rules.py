"""The rule for rows of each family of operations, by what an operation is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradwire_engine.errors import ShardingError
from gradwire_engine.ops import batching
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.constants import Assigned, Identity
from gradwire_engine.ops.custom_vjp import CustomVjpTape
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solution
from gradwire_engine.ops.sequences.bins import SearchSorted
from gradwire_engine.ops.stacks import AddStacks, Rows, Stacked
from gradwire_engine.sharding import indexing, products, rowwise, views
from gradwire_engine.sharding.linear import of_parts
from gradwire_engine.sharding.values import Division, Part, Value
from gradwire_engine.tape import Type

#: From the operands of an operation, and the type of its result for all rows, to its result.
Rule: TypeAlias = Callable[[Division, Any, Sequence[Value], Type], Value]


def sought(d: Division, op: SearchSorted, values: Sequence[Value], whole: Type) -> Value:
    """Each row is sought in a vector that all shards have."""
    among, v = values
    if among.spread is not None:
        raise ShardingError("this seeks among the rows", hint="send sorted edges as a variable")
    return Value(op(among.var, v.var), whole, v.spread)


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
}


def applied(d: Division, op: Op, values: Sequence[Value], whole: Type) -> Value:
    """``op`` on values of which some have rows or are parts of sums.

    Raises: ``ShardingError`` where the result is neither.
    """
    if isinstance(op, Assigned):
        raise ShardingError("what is assigned to a variable does not add up over shards")
    if isinstance(op, CustomVjp | CustomVjpTape):
        raise ShardingError(
            "a derivative by a rule of its own is not known to add up over shards",
            hint="let functions of the rows have the derivatives of their operations",
        )
    if any(value.spread is Part.OF_SUM for value in values):
        return of_parts(d, op, values, whole)
    return rule(op)(d, op, values, whole)


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
    raise ShardingError(f"{op.name} of the rows is not known to be one of each row by itself")
