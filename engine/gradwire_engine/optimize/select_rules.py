"""Choices by one condition in choices by the same, which derivatives of ``where`` are full of.

A branch is given zeros where it was not taken, and what it makes of them is dropped there again.
Measured by *kernel energy: norm*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.pointwise.arithmetic import Add, Divide, Multiply, Negative, Subtract
from gradwire_engine.ops.pointwise.comparison import LogicalNot, NotEqual
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable

#: Operations as quick with numbers that a branch excludes: a power of a negative number is not.
_QUICK = frozenset((Add, Subtract, Multiply, Divide, Negative, Where))


def _chosen(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``where`` with what its branches come to where they are taken."""
    condition, x, y = args
    if not values.shape(condition):
        return None
    inner, of, _, _ = values.code[condition]
    if type(inner) is LogicalNot:
        return op, (of[0], y, x)
    first, second = (
        _taken(slot, condition, first, values) for slot, first in ((x, True), (y, False))
    )
    if first is not None or second is not None:
        return op, (condition, x if first is None else first, y if second is None else second)
    return None


def _taken(slot: int, condition: int, first: bool, values: ValueTable) -> Expression | None:
    """The value of a slot where the condition holds, or does not, if that is less than it is."""
    if values.shape(slot) != values.shape(condition):
        return None
    if (branch := _branch(slot, condition, first, values)) is not None:
        return branch
    if first and (ratio := _ratio(slot, condition, values)) is not None:
        return ratio
    op, args, _, _ = values.code[slot]
    if type(op) not in _QUICK or values.shared(slot):
        return None
    branches = [_branch(arg, condition, first, values) for arg in args]
    if not any(branch is not None for branch in branches):
        return None
    return op, [a if b is None else b for a, b in zip(args, branches, strict=True)]


def _ratio(slot: int, condition: int, values: ValueTable) -> Expression | None:
    """``(a x) / x`` and ``-(a x) / x`` where ``x`` is not 0, as derivatives of norms have them."""
    (op, args, _, _), (compares, of, _, _) = values.code[slot], values.code[condition]
    if type(op) is not Divide or type(compares) is not NotEqual or values.number(of[1]) != 0:
        return None
    top, x = args
    if x != of[0]:
        return None
    opposite = type(values.code[top].op) is Negative
    if opposite:
        (top,) = values.code[top].args
    op, factors, _, _ = values.code[top]
    if type(op) is not Multiply or x not in factors:
        return None
    other = factors[1] if factors[0] == x else factors[0]
    return (Negative(), (other,)) if opposite else other


def _branch(slot: int, condition: int, first: bool, values: ValueTable) -> int | None:
    """The branch of a choice by the condition, if the slot is one."""
    op, args, _, _ = values.code[slot]
    if type(op) is not Where or args[0] != condition:
        return None
    return args[1] if first else args[2]


RULES: Mapping[type[Op], Rule] = {Where: _chosen}
