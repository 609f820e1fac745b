"""Sums of arrays that are zero but for a part: zeros once, and each part added in its place.

Derivatives of slices are such arrays, and what reads several slices has their sum.  Measured by
*Rosenbrock, n = 1,000,000* without machine code.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span
from gradwire_engine.ops.pointwise.arithmetic import Add
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, Instruction, Shape, Tape, Type

#: Of larger arrays not more than this many parts are kept until all are there.
_HELD_BYTES, _HELD = 1 << 20, 4
#: The slots that are added at each pattern.
_Parts: TypeAlias = dict[Pattern, int]


def placed(tape: Tape, poll: Poll = no_deadline) -> Tape:
    """``tape`` with sums of scattered parts made in one array each."""
    if {ScatterAdd, Pad}.isdisjoint(map(type, map(itemgetter(0), tape.instructions))):
        return tape
    adds = _adds(tape, poll)
    return _Rewriting(tape, adds).tape(poll) if any(adds) else tape


def _adds(tape: Tape, poll: Poll) -> list[int]:
    """The instructions that add a part, or what was so added; 2 for those that one such reads."""
    instructions = tape.instructions
    adds, uses = [0] * len(instructions), [0] * len(instructions)
    for slot in tape.outputs:
        uses[slot] = 2
    for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
        for arg in args:
            uses[arg] += 1
        if type(op) is Add and isinstance(kind, ArrayType) and kind.shape:
            same = all(instructions[a].type.shape == kind.shape for a in args)  # type: ignore[union-attr]
            if same and any(adds[a] or _pattern(instructions[a].op, kind.shape) for a in args):
                adds[slot] = 1
    for slot, (_, args, _, _) in enumerate(polled(instructions, poll)):
        if adds[slot]:
            for arg in args:
                if adds[arg] and uses[arg] == 1:
                    adds[arg] = 2
    return adds


class _Rewriting:
    """The instructions made so far, and where the values of the old slots are among them."""

    def __init__(self, tape: Tape, adds: Sequence[int]) -> None:
        self._old, self._adds = tape, adds
        self._made: list[Instruction] = []
        self._moved = [-1] * len(tape.instructions)
        #: Sums that are not needed by themselves.
        self._sums: dict[int, _Parts] = {}

    def tape(self, poll: Poll) -> Tape:
        """The new tape; nothing reads some of its instructions any more."""
        old, moved = self._old, self._moved
        for slot, (op, args, kind, origin) in enumerate(polled(old.instructions, poll)):
            if self._adds[slot]:
                self._add(slot, args, kind, origin)  # type: ignore[arg-type]
            else:
                moved[slot] = self._emit(op, tuple([moved[a] for a in args]), kind, origin)
        inputs, outputs = ([moved[slot] for slot in slots] for slots in (old.inputs, old.outputs))
        return Tape(tuple(self._made), tuple(inputs), tuple(outputs))

    def _emit(self, op: Op, args: tuple[int, ...], kind: Type, origin: int) -> int:
        self._made.append(Instruction(op, args, kind, origin))
        return len(self._made) - 1

    def _add(self, slot: int, args: Sequence[int], kind: ArrayType, origin: int) -> None:
        """Join the parts of two operands; those at one pattern are added."""
        parts, more = (self._parts(a, kind.shape) for a in args)
        if len(parts) < len(more):
            parts, more = more, parts
        for pattern, part in more.items():
            if (other := parts.get(pattern)) is None:
                parts[pattern] = part
            else:
                types = self._made[other].type, self._made[part].type
                parts[pattern] = self._emit(Add(), (other, part), Add().infer(*types), origin)  # type: ignore[arg-type]
        if self._adds[slot] == 1 or (kind.nbytes > _HELD_BYTES and len(parts) >= _HELD):
            self._moved[slot] = self._placed(parts, kind, origin)
        else:
            self._sums[slot] = parts

    def _parts(self, slot: int, shape: Shape) -> _Parts:
        """The parts that an operand is the sum of: an earlier sum's, its own part, or all of it."""
        if slot in self._sums:
            return self._sums.pop(slot)
        op, args, _, _ = self._old.instructions[slot]
        if (pattern := _pattern(op, shape)) is not None:
            return {pattern: self._moved[args[0]]}
        return {(FULL,) * len(shape): self._moved[slot]}

    def _placed(self, parts: _Parts, kind: ArrayType, origin: int) -> int:
        """The sum of parts; what is everywhere comes first, to be added to and not to."""
        ((pattern, part), *rest), everywhere = parts.items(), (FULL,) * len(kind.shape)
        if not rest:
            return part if pattern == everywhere else self._scattered(pattern, part, kind, origin)
        patterns = sorted(parts, key=everywhere.__ne__)
        args = tuple([parts[pattern] for pattern in patterns])
        return self._emit(Placed(tuple(patterns), kind.shape), args, kind, origin)

    def _scattered(self, pattern: Pattern, part: int, kind: ArrayType, origin: int) -> int:
        return self._emit(ScatterAdd(pattern, kind.shape), (part,), kind, origin)


def _pattern(op: Op, shape: Shape) -> Pattern | None:
    """The place that an operation of zeros and one operand puts it in, if known beforehand."""
    if type(op) is ScatterAdd:
        return None if ARRAY in op.pattern else op.pattern
    if type(op) is Pad:
        ends = zip(op.before, op.after, shape, strict=True)
        return tuple([Span(first, n - rest, None) for first, rest, n in ends])
    return None
