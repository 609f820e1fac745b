"""One pass over a tape: aliases, constants, identities and common subexpressions, then dead code.

It runs only after all calculus has been expanded: before, equal values may have different names
that derivatives are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.ops.arithmetic import Divide, Multiply, Negative, Power
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Assigned, Constant, Copy, Guard, Input, StopGradient
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.shape import BroadcastTo
from gradwire_engine.tape import ArrayType, Instruction, Tape, Type

#: Larger results are computed at replay instead of kept in the tape.
_FOLDED_BYTES = 1 << 16
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def optimize(tape: Tape, xp: Any, poll: Poll = lambda: None) -> Tape:
    """An equivalent tape without work that is double, constant or unused."""
    live = _live(tape.instructions, tape.outputs)
    sweep = _Sweep(xp)
    with np.errstate(all="ignore"):
        for slot, instruction in enumerate(tape.instructions):
            if not slot & 1023:
                poll()
            if live[slot]:
                sweep.add(slot, instruction)
    inputs, outputs = tape.inputs, [sweep.moved[slot] for slot in tape.outputs]
    return _compact(sweep.instructions, [sweep.moved.get(s) for s in inputs], outputs)


def _live(instructions: Sequence[Instruction], outputs: Sequence[int]) -> bytearray:
    live = bytearray(len(instructions))
    for slot in outputs:
        live[slot] = 1
    for slot in range(len(instructions) - 1, -1, -1):
        op, args, _, _ = instructions[slot]
        if live[slot] or isinstance(op, Guard | Input):
            live[slot] = 1
            for arg in args:
                live[arg] = 1
    return live


class _Sweep:
    """Instructions kept so far, and where each old slot's value is now."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.instructions: list[Instruction] = []
        self.moved: dict[int, int] = {}
        self._known: dict[tuple[Op, tuple[int, ...]], int] = {}

    def add(self, slot: int, instruction: Instruction) -> None:
        """Keep an instruction, or find the slot that has its value already."""
        op, args, kind, origin = instruction
        moved = self.moved
        args = tuple([moved[a] for a in args])
        find = _ALIASES.get(type(op))
        alias = None if find is None else find(self, args, kind)
        if alias is None and op.elementwise:
            assert isinstance(kind, ArrayType)
            op, args, alias = self._elementwise(op, args, kind, origin)
        moved[slot] = self._keep(op, args, kind, origin) if alias is None else alias

    def _keep(self, op: Op, args: tuple[int, ...], kind: Type, origin: int) -> int:
        """The slot of an instruction, which may have been kept before."""
        if args and not isinstance(op, BroadcastTo):
            op, args = self._fold(op, args, kind)
        key = (op, args)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.instructions)
            self.instructions.append(_new_tuple(Instruction, (op, args, kind, origin)))
        return found

    # Each gives the operand whose value the result is, where there is one

    def identity(self, args: tuple[int, ...], kind: Type) -> int | None:
        return args[0]

    def unchanged(self, args: tuple[int, ...], kind: Type) -> int | None:
        return args[0] if _same(self.instructions[args[0]].type, kind) else None

    def unit(self, args: tuple[int, ...], kind: Type) -> int | None:
        """``x / 1``, ``x ** 1``, ``x * 1``."""
        return self.unchanged(args, kind) if self._is_one(args[1]) else None

    def unit_factor(self, args: tuple[int, ...], kind: Type) -> int | None:
        found = self.unit(args, kind)
        return self.unit(args[::-1], kind) if found is None else found

    def negated(self, args: tuple[int, ...], kind: Type) -> int | None:
        inner = self.instructions[args[0]]
        return inner.args[0] if isinstance(inner.op, Negative) else None

    def _is_one(self, slot: int) -> bool:
        op = self.instructions[slot].op
        if isinstance(op, BroadcastTo):
            op = self.instructions[self.instructions[slot].args[0]].op
        return isinstance(op, Constant) and bool(np.ndim(op.value) == 0 and op.value == 1)

    def _fold(self, op: Op, args: tuple[int, ...], kind: Type) -> tuple[Op, tuple[int, ...]]:
        """A constant in place of an operation on constants."""
        values = []
        for arg in args:
            source = self.instructions[arg].op
            if not isinstance(source, Constant):
                return op, args
            values.append(source.value)
        if isinstance(op, Guard) or not isinstance(kind, ArrayType) or kind.nbytes > _FOLDED_BYTES:
            return op, args
        try:
            return Constant.of(np.asarray(op.kernel(self.xp, *values))), ()
        except (ArithmeticError, ValueError, IndexError):
            return op, args  # it fails at replay, where the error has a place

    def _elementwise(
        self, op: Op, args: tuple[int, ...], kind: ArrayType, origin: int
    ) -> tuple[Op, tuple[int, ...], int | None]:
        """Compute before repeating: operands as they were before they were broadcast."""
        op, args = _strengthless(op, args, self.instructions)
        stripped = tuple([self._before_broadcast(arg) for arg in args])
        if stripped == args:
            return op, args, None
        shapes = [self.instructions[arg].type.shape for arg in stripped]  # type: ignore[union-attr]
        shape = broadcast_shapes(*shapes)
        if shape == kind.shape:
            return op, stripped, None
        small = self._keep(op, stripped, ArrayType(kind.dtype, shape), origin)
        return op, args, self._keep(BroadcastTo(kind.shape), (small,), kind, origin)

    def _before_broadcast(self, slot: int) -> int:
        instruction = self.instructions[slot]
        return instruction.args[0] if isinstance(instruction.op, BroadcastTo) else slot


_ALIASES: dict[type[Op], Callable[[_Sweep, tuple[int, ...], Type], int | None]] = {
    StopGradient: _Sweep.identity,
    Copy: _Sweep.identity,
    Assigned: _Sweep.identity,
    AsType: _Sweep.unchanged,
    BroadcastTo: _Sweep.unchanged,
    Multiply: _Sweep.unit_factor,
    Divide: _Sweep.unit,
    Power: _Sweep.unit,
    Negative: _Sweep.negated,
}


def _strengthless(
    op: Op, args: tuple[int, ...], instructions: Sequence[Instruction]
) -> tuple[Op, tuple[int, ...]]:
    """``x ** 2`` as ``x * x``: exact, and a twentieth of the cost."""
    if isinstance(op, Power):
        exponent = instructions[args[1]].op
        if isinstance(exponent, Constant) and np.ndim(exponent.value) == 0 and exponent.value == 2:
            return Multiply(), (args[0], args[0])
    return op, args


def _same(a: Type, b: Type) -> bool:
    """Whether two types differ in nothing that a replay can see."""
    return isinstance(a, ArrayType) and a[:2] == b[:2]


def _compact(
    instructions: Sequence[Instruction], inputs: Sequence[int | None], outputs: Sequence[int]
) -> Tape:
    """Drop what nothing needs any more, and number the rest anew."""
    live = _live(instructions, outputs)
    moved: list[int] = [-1] * len(instructions)
    kept: list[Instruction] = []
    for slot, (op, args, kind, origin) in enumerate(instructions):
        if live[slot]:
            moved[slot] = len(kept)
            renumbered = tuple([moved[a] for a in args])
            kept.append(_new_tuple(Instruction, (op, renumbered, kind, origin)))
    return Tape(
        tuple(kept),
        tuple([moved[s] for s in inputs if s is not None]),
        tuple([moved[s] for s in outputs]),
    )
