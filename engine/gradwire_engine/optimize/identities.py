"""Values that are there already: what gives an operand, a constant, or the same in fewer steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Assigned, Constant, Copy, Item, StopGradient
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Divide, Multiply, Negative, Power
from gradwire_engine.ops.pointwise.comparison import LogicalAnd, LogicalOr
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.optimize.simplify import Simplifier

#: Gives the slot whose value the result of operands is, where there is one.
IdentityRule: TypeAlias = "Callable[[Simplifier, tuple[int, ...], Type], int | None]"


def _identity(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    return args[0]


def _item(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """What was packed, or goes through a rule."""
    packed, op = s.instructions[args[0]], s.op
    assert isinstance(op, Item)
    return packed.args[op.index] if packed.op.forwards else None


def _unchanged(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    return args[0] if _same(s.instructions[args[0]].type, kind) else None


def _unit(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """``x / 1``, ``x ** 1``, ``x * 1``."""
    return _unchanged(s, args, kind) if args[1] in s.ones else None


def _unit_factor(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    x, y = args
    found = _unchanged(s, args, kind) if y in s.ones else None
    return _unchanged(s, (y,), kind) if found is None and x in s.ones else found


def _negated(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    inner = s.instructions[args[0]]
    return inner.args[0] if isinstance(inner.op, Negative) else None


def _small_power(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """``x ** 2`` as ``x * x``, to the fourth: within 2 units in the last place, for a tenth."""
    exponent = s.constants.get(args[1])
    if exponent is None or np.ndim(exponent) or exponent not in (0, 2, 3, 4):
        return _unit(s, args, kind)
    if exponent == 0 and isinstance(kind, ArrayType):
        one = Constant.of(np.ones((), kind.dtype))
        return _spread(s, s.keep(one, (), ArrayType(kind.dtype, ())), kind)
    if not _same(s.instructions[args[0]].type, kind):
        return None
    square = s.simplified(Multiply(), (args[0], args[0]), kind)
    if exponent == 2:
        return square
    return s.simplified(Multiply(), (square, square if exponent == 4 else args[0]), kind)


def _chosen(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """``where`` with one condition for all elements, or no choice."""
    condition, x, y = args
    if x == y:
        return _spread(s, x, kind)
    known = s.constants.get(condition)
    if known is None or not np.size(known) or np.all(known) != np.any(known):
        return None
    return _spread(s, x if np.all(known) else y, kind)


def _conjunction(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    return _decided(s, args, kind, by=False)


def _disjunction(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    return _decided(s, args, kind, by=True)


def _decided(s: Simplifier, args: tuple[int, ...], kind: Type, *, by: bool) -> int | None:
    """One operand decides where it is ``by``, else it is the other's."""
    for arg, other in (args, args[::-1]):
        known = s.constants.get(arg)
        if known is not None and not np.ndim(known):
            return _spread(s, arg if bool(known) is by else other, kind)
    return None


def _spread(s: Simplifier, slot: int, kind: Type) -> int | None:
    """The slot of a value repeated to ``kind``, if only its shape differs."""
    found = s.instructions[slot].type
    if not isinstance(found, ArrayType) or not isinstance(kind, ArrayType):
        return None
    if found.dtype != kind.dtype:
        return None
    if found.shape == kind.shape:
        return slot
    return s.keep(BroadcastTo(kind.shape), (slot,), kind)


def _reshaped(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """One shape instead of two in a row; one number repeated in another shape."""
    inner = s.instructions[args[0]]
    if isinstance(inner.op, BroadcastTo) and isinstance(kind, ArrayType):
        (number,) = inner.args
        if s.instructions[number].type.shape == ():  # type: ignore[union-attr]
            return s.keep(BroadcastTo(kind.shape), (number,), kind)
    if not isinstance(inner.op, Reshape) or not isinstance(kind, ArrayType):
        return _unchanged(s, args, kind)
    found = _unchanged(s, inner.args, kind)
    return s.keep(Reshape(kind.shape), inner.args, kind) if found is None else found


def _transposed(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """One order of axes instead of two in a row, or none."""
    inner, outer = s.instructions[args[0]], s.op
    if not isinstance(inner.op, Transpose) or not isinstance(outer, Transpose):
        return None
    axes = tuple([inner.op.axes[axis] for axis in outer.axes])
    natural = axes == tuple(range(len(axes)))
    return inner.args[0] if natural else s.keep(Transpose(axes), inner.args, kind)


def _product(s: Simplifier, args: tuple[int, ...], kind: Type) -> int | None:
    """A matrix times the identity."""
    for arg, other in (args, args[::-1]):
        op, of, _, _ = s.instructions[arg]
        if isinstance(op, OnDiagonal) and of[0] in s.ones and not op.offset:
            return _unchanged(s, (other,), kind)
    return None


def _same(a: Type, b: Type) -> bool:
    """Whether two types differ in nothing that a replay can see."""
    return isinstance(a, ArrayType) and a[:2] == b[:2]


IDENTITIES: dict[type[Op], IdentityRule] = {
    StopGradient: _identity,
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
    LogicalAnd: _conjunction,
    LogicalOr: _disjunction,
}
