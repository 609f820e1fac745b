"""Bounds of the integers that passes of a loop make of their number and of literals.

Python's integers have no end; those of an instruction have 64 bits, and no negative powers. By
interval arithmetic (Moore, Interval Analysis, 1966) a loop is found whose integers may need more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.loops.loop import BlockArgument
from gradwire_engine.loops.path_merging import Trace
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.constants import Constant, Guard
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.pointwise import arithmetic, comparison, selection
from gradwire_engine.tape import ArrayType, Type

#: The least and the greatest value.
Bounds: TypeAlias = tuple[int, int]
#: Passes that are taken for granted where values decide how many there are.
_MOST_PASSES = 1 << 20
#: Passes that are followed one by one.
_FOLLOWED = 1000
#: Passes up to which a loop that computes nothing else is run while recording.
MOST_RUN = 10_000
#: Passes up to which powers of their numbers are better written out: as products.
MOST_POWERS = 16


class Outgrown(Exception):
    """An integer may need more than 64 bits, or be a fraction."""


class _Step(NamedTuple):
    """An instruction whose bounds follow from others, or a guard."""

    slot: int
    rule: Callable[..., Bounds] | None
    args: tuple[int, ...]
    expected: int


class Integers:
    """The integers of paths through a body that nothing but literals and numbers leads to.

    ``firsts`` are what carries begin with, where that is an integer.
    """

    def __init__(self, b: Builder, paths: Sequence[Trace], firsts: Sequence[int | None]) -> None:
        self._firsts = firsts
        self._paths = [_Path(b, path, firsts) for path in paths]

    @property
    def are_all(self) -> bool:
        """True if passes compute nothing else."""
        return all(path.knows_all for path in self._paths)

    @property
    def are_exponents(self) -> bool:
        """True if something else is raised to one."""
        return any(path.raises for path in self._paths)

    def outgrow(self, passes: int | None) -> bool:
        """True if one may need more than 64 bits in so many passes, or be a fraction."""
        most = _MOST_PASSES if passes is None else passes
        try:
            self._follow((0, most - 1), [None] * len(self._firsts))
            if any(first is not None for first in self._firsts):
                self._follow_carries(most)
        except Outgrown:
            return True
        return False

    def _follow_carries(self, most: int) -> None:
        """Pass by pass; after many, each carry goes on as it did in the last pass."""
        before: list[Bounds | None] = []
        now = [None if first is None else (first, first) for first in self._firsts]
        for number in range(min(most, _FOLLOWED)):
            before, after = now, self._follow((number, number), now)
            if after is None:
                return
            now = after
        if most > _FOLLOWED:
            left = most - _FOLLOWED
            for old, new in zip(before, now, strict=True):
                if old is not None and new is not None:
                    _checked(tuple([y + left * (y - x) for x, y in zip(old, new, strict=True)]))

    def _follow(
        self, number: Bounds, carries: Sequence[Bounds | None]
    ) -> list[Bounds | None] | None:
        """The carries after a pass by any path; None if none goes on."""
        found = [path.follow(number, carries) for path in self._paths]
        going = [after for after in found if after is not None]
        if not going:
            return None
        return [_joined(each) for each in zip(*going, strict=True)]


class _Path:
    """The steps of one path."""

    def __init__(self, b: Builder, trace: Trace, firsts: Sequence[int | None]) -> None:
        self._ends = trace.ends
        self._outputs = trace.outputs[: len(firsts)]
        self._known: dict[int, Bounds] = {}
        self._arguments: dict[int, int] = {}
        self._steps: list[_Step] = []
        followed, cast = set[int](), set[int]()
        #: Whether something else is raised to one of them.
        self.raises = False
        for slot, (op, args, kind, _) in enumerate(trace.instructions, trace.start):
            for arg in args:
                if arg < trace.start and arg not in self._known:
                    self._learn(arg, b.instructions[arg].op, b.instructions[arg].type)
            self._learn(slot, op, kind)
            if isinstance(op, AsType) and args[0] in followed:
                cast.add(slot)
            self.raises |= type(op) is arithmetic.Power and args[1] in cast
            read = all(arg in self._known or arg in followed for arg in args)
            if isinstance(op, BlockArgument):
                carry = op.number - 1
                if carry < 0 or (carry < len(firsts) and firsts[carry] is not None):
                    self._arguments[slot] = op.number
                    followed.add(slot)
            elif isinstance(op, Guard):
                if read:
                    self._steps.append(_Step(slot, None, args, int(op.expected)))
            elif read and args and (rule := _rule(op, kind)) is not None:
                self._steps.append(_Step(slot, rule, args, 0))
                followed.add(slot)
        self.knows_all = all(out in followed or out in self._known for out in trace.outputs)

    def _learn(self, slot: int, op: Op, kind: Type) -> None:
        if isinstance(op, Constant) and _is_integer(kind):
            self._known[slot] = (int(op.value), int(op.value))

    def follow(
        self, number: Bounds, carries: Sequence[Bounds | None]
    ) -> list[Bounds | None] | None:
        """The carries that the path leaves, if it may be taken and goes on."""
        values: dict[int, Bounds | None] = {**self._known}
        for slot, at in self._arguments.items():
            values[slot] = carries[at - 1] if at else number
        for slot, rule, args, expected in self._steps:
            given = [values[arg] for arg in args]
            if rule is None:
                (decided,) = given
                if decided is not None and not decided[0] <= expected <= decided[1]:
                    return None
            else:
                values[slot] = None if None in given else _checked(rule(*given))
        return None if self._ends else [values.get(slot) for slot in self._outputs]


def _is_integer(kind: Type) -> bool:
    return isinstance(kind, ArrayType) and not kind.shape and kind.dtype.kind in "ib"


def _rule(op: Op, kind: Type) -> Callable[..., Bounds] | None:
    """The rule for the bounds of an operation, if it gives an integer, or decides."""
    return _RULES.get(type(op)) if _is_integer(kind) else None


def _checked(bounds: Any) -> Bounds:
    if bounds[0] < -(2**63) or bounds[1] >= 2**63:
        raise Outgrown
    least, greatest = bounds
    return least, greatest


def _joined(each: Sequence[Bounds | None]) -> Bounds | None:
    known = [bounds for bounds in each if bounds is not None]
    if len(known) < len(each):
        return None
    return min([x for x, _ in known]), max([y for _, y in known])


def _at_corners(rule: Callable[[int, int], int]) -> Callable[[Bounds, Bounds], Bounds]:
    """A function that is monotonous in each operand."""

    def bounds(x: Bounds, y: Bounds) -> Bounds:
        found = [rule(*pair) for pair in product(x, y)]
        return min(found), max(found)

    return bounds


def _floor_divide(x: Bounds, y: Bounds) -> Bounds:
    if y[0] <= 0 <= y[1]:
        most = max(map(abs, x))
        return -most, most
    return _at_corners(lambda a, b: a // b)(x, y)


def _remainder(x: Bounds, y: Bounds) -> Bounds:
    if x[0] == x[1] and y[0] == y[1] != 0:
        return (x[0] % y[0],) * 2
    return min(y[0] + 1, 0), max(y[1] - 1, 0)


def _power(x: Bounds, y: Bounds) -> Bounds:
    most = max(map(abs, x))
    if y[0] < 0 or (most > 1 and y[1] * (most.bit_length() - 1) > 64):
        raise Outgrown
    if x[0] == x[1] and y[0] == y[1]:
        return (x[0] ** y[0],) * 2
    greatest = max(most ** y[1], 1)
    return (-greatest if x[0] < 0 else 0), greatest


def _absolute(x: Bounds) -> Bounds:
    return max(x[0], -x[1], 0), max(map(abs, x))


def _less(x: Bounds, y: Bounds) -> Bounds:
    return int(x[1] < y[0]), int(x[0] < y[1])


def _less_equal(x: Bounds, y: Bounds) -> Bounds:
    return int(x[1] <= y[0]), int(x[0] <= y[1])


def _equal(x: Bounds, y: Bounds) -> Bounds:
    return int(x[0] == x[1] == y[0] == y[1]), int(x[0] <= y[1] and y[0] <= x[1])


def _not(x: Bounds) -> Bounds:
    return 1 - x[1], 1 - x[0]


def _where(mask: Bounds, x: Bounds, y: Bounds) -> Bounds:
    if mask[0] == mask[1]:
        return x if mask[0] else y
    return min(x[0], y[0]), max(x[1], y[1])


_lesser, _greater = _at_corners(min), _at_corners(max)
_RULES: Mapping[type[Op], Callable[..., Bounds]] = {
    arithmetic.Add: _at_corners(lambda a, b: a + b),
    arithmetic.Subtract: _at_corners(lambda a, b: a - b),
    arithmetic.Multiply: _at_corners(lambda a, b: a * b),
    arithmetic.Negative: lambda x: (-x[1], -x[0]),
    arithmetic.Square: lambda x: (_absolute(x)[0] ** 2, _absolute(x)[1] ** 2),
    arithmetic.Absolute: _absolute,
    arithmetic.FloorDivide: _floor_divide,
    arithmetic.Remainder: _remainder,
    arithmetic.Power: _power,
    comparison.Less: _less,
    comparison.LessEqual: _less_equal,
    comparison.Greater: lambda x, y: _less(y, x),
    comparison.GreaterEqual: lambda x, y: _less_equal(y, x),
    comparison.Equal: _equal,
    comparison.NotEqual: lambda x, y: _not(_equal(x, y)),
    comparison.LogicalAnd: _lesser,
    comparison.LogicalOr: _greater,
    comparison.LogicalNot: _not,
    comparison.LeftShift: lambda x, y: _at_corners(lambda a, b: a * b)(x, _power((2, 2), y)),
    selection.Where: _where,
    selection.Maximum: _greater,
    selection.Minimum: _lesser,
    AsType: lambda x: x,
}
