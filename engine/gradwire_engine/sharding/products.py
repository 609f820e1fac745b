"""Products that add up over labelled axes: over that of the rows they give parts of sums."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.errors import ShardingError
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solution
from gradwire_engine.sharding.rowwise import over_stacks
from gradwire_engine.sharding.values import Along, Division, Part, Value, as_rows
from gradwire_engine.tape import ArrayType, Type

#: Labels of the axes of two operands and of the result.
_Labels = tuple[Sequence[str], Sequence[str], Sequence[str]]


def contract(d: Division, op: Contract, values: Sequence[Value], whole: Type) -> Value:
    """A contraction over its labels."""
    return _product(op, values, whole, op.labels)


def matmul(d: Division, op: MatMul, values: Sequence[Value], whole: Type) -> Value:
    """A product of matrices, of which those before the last two axes are broadcast."""
    assert isinstance(whole, ArrayType)
    x, y = values
    stack = max(x.ndim, y.ndim) - 2
    batch = [f"stack {number}" for number in range(max(stack, 0))]
    left = [*batch[len(batch) - max(x.ndim - 2, 0) :], *["row", "inner"][-x.ndim :]]
    right = [*batch[len(batch) - max(y.ndim - 2, 0) :], *["inner", "column"][: y.ndim]]
    result = [*batch, *[label for label in ("row", "column") if label in (*left, *right)]]
    return _product(op, values, whole, (left, right, result))


def _product(op: Op, values: Sequence[Value], whole: Type, labels: _Labels) -> Value:
    *operands, result = labels
    found = {
        (names[value.rows.axis], value.rows.each)
        for value, names in zip(values, operands, strict=True)
        if value.rows is not None
    }
    if len(found) > 1:
        raise ShardingError(
            "this multiplies each row by other rows",
            hint="pairs of rows need the rows of other shards",
        )
    ((label, each),) = found
    factors = [
        as_rows(value, Along(names.index(label) if label in names else -1, each))
        for value, names in zip(values, operands, strict=True)
    ]
    spread = Along(result.index(label), each) if label in result else Part.OF_SUM
    return Value(op(*factors), whole, spread)


def solution(d: Division, op: Solution, values: Sequence[Value], whole: Type) -> Value:
    """Equations with one matrix for all rows, which are columns on the right, or with stacks."""
    a, right = values
    if a.rows is None and right.rows is not None and right.rows.axis == right.ndim - 1:
        along = Along(right.rows.axis + len(whole.shape) - right.ndim, right.rows.each)  # type: ignore[union-attr]
        return Value(op(a.var, right.var), whole, along)
    return over_stacks(d, op, values, whole)
