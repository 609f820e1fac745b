"""Algebraic identities: what gives an operand, a constant, or the same in fewer steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Assigned, Copy, Item, StopGradient
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Divide, Multiply, Negative, Power
from gradwire_engine.ops.pointwise.comparison import LogicalAnd, LogicalOr
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.rules import ByFormula
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable, constant
from gradwire_engine.tape import ArrayType


def _identity(op: Op, args: Sequence[int], values: ValueTable) -> Expression:
    return args[0]


def _computed(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The value, whose derivatives are on the tape by now."""
    return args[0] if _is_alike(args[0], values) else _spread(args[0], values)


def _item(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The value that was packed, or goes through a rule."""
    assert isinstance(op, Item)
    packed = values.code[args[0]]
    return packed.args[op.index] if packed.op.forwards else None


def _unchanged(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    return args[0] if _is_alike(args[0], values) else None


def _unit(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``x / 1``, ``x ** 1``."""
    return args[0] if args[1] in values.ones and _is_alike(args[0], values) else None


def _unit_factor(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``x * 1``."""
    if values.ones.isdisjoint(args):
        return None
    x, y = args
    if y in values.ones and _is_alike(x, values):
        return x
    return y if x in values.ones and _is_alike(y, values) else None


def _negated(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    inner = values.code[args[0]]
    return inner.args[0] if type(inner.op) is Negative else None


def _small_power(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``x ** 2`` as ``x * x``, to the fourth: within 2 units in the last place, for a tenth."""
    x, number = args
    exponent = values.constants.get(number)
    if exponent is None or np.ndim(exponent) or exponent not in (0, 2, 3, 4):
        return _unit(op, args, values)
    if exponent == 0 and isinstance(values.kind, ArrayType):
        one = constant(1, values.kind.dtype)
        return (BroadcastTo(values.kind.shape), (one,)) if values.kind.shape else one
    if not _is_alike(x, values):
        return None
    square = Multiply(), (x, x)
    if exponent == 2:
        return square
    return Multiply(), (square, square if exponent == 4 else x)


def _chosen(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``where`` with one condition for all elements, or no choice."""
    condition, x, y = args
    if x == y:
        return _spread(x, values)
    known = values.constants.get(condition)
    if known is None or not np.size(known) or np.all(known) != np.any(known):
        return None
    return _spread(x if np.all(known) else y, values)


def _decided(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """One operand decides a disjunction where it is true, a conjunction where it is false."""
    for arg, other in (args, args[::-1]):
        known = values.constants.get(arg)
        if known is not None and not np.ndim(known):
            return _spread(arg if bool(known) is (type(op) is LogicalOr) else other, values)
    return None


def _spread(slot: int, values: ValueTable) -> Expression | None:
    """A value repeated to the type of the result, if only its shape differs."""
    found, kind = values.code[slot].type, values.kind
    if not isinstance(found, ArrayType) or not isinstance(kind, ArrayType):
        return None
    if found.dtype != kind.dtype:
        return None
    return slot if found.shape == kind.shape else (BroadcastTo(kind.shape), (slot,))


def _reshaped(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """One shape instead of two in a row; one number repeated in another shape."""
    if _is_alike(args[0], values):
        return args[0]
    inner, of, _, _ = values.code[args[0]]
    if type(inner) is BroadcastTo and not values.shape(of[0]):
        return BroadcastTo(values.kind.shape), of  # type: ignore[union-attr]
    return (op, of) if type(inner) is Reshape else None


def _transposed(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """One order of axes instead of two in a row, or none."""
    inner, of, _, _ = values.code[args[0]]
    if type(inner) is not Transpose or type(op) is not Transpose:
        return None
    axes = tuple([inner.axes[axis] for axis in op.axes])
    return of[0] if axes == tuple(range(len(axes))) else (Transpose(axes), of)


def _product(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """A matrix times the identity."""
    for arg, other in (args, args[::-1]):
        inner, of, _, _ = values.code[arg]
        if type(inner) is OnDiagonal and of[0] in values.ones and not inner.offset:
            return other if _is_alike(other, values) else None
    return None


def _is_alike(slot: int, values: ValueTable) -> bool:
    """True if a slot's type differs from the result's in nothing that a replay can see."""
    found, kind = values.code[slot].type, values.kind
    return found is kind or (isinstance(found, ArrayType) and found[:2] == kind[:2])


RULES: Mapping[type[Op], Rule] = {
    StopGradient: _identity,
    ByFormula: _computed,
    Copy: _identity,
    Assigned: _identity,
    Item: _item,
    AsType: _unchanged,
    BroadcastTo: _unchanged,
    Multiply: _unit_factor,
    Divide: _unit,
    Power: _small_power,
    Negative: _negated,
    Reshape: _reshaped,
    Transpose: _transposed,
    MatMul: _product,
    Where: _chosen,
    LogicalAnd: _decided,
    LogicalOr: _decided,
}
