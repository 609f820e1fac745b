"""Joins the paths through a loop's body: equal instructions once.

What is the same in all passes is recorded before the loop instead.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple, TypeAlias

from gradwire_engine.loops.loop import MustUnroll, Path
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.constants import Constant, Copy, Guard, Input
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.tape import ArrayType, Instruction, Tape, Type

#: Bytes up to which what is made of constants alone is left to be folded where it is read.
_FOLDED_BYTES = 64
#: An instruction by what it computes, of what, and its type.
_Key: TypeAlias = tuple[Op, tuple[int, ...], Type]


class Trace(NamedTuple):
    """The recording of a region: its instructions, numbered from ``start``, and the results."""

    start: int
    instructions: Sequence[Instruction]
    outputs: Sequence[int]
    ends: bool
    counted: bool
    #: Guards that decide which path it is, though they are the same in all passes.
    decides: Set[int] = frozenset()


class PathMerger:
    """Paths on their way into one body, in which equal instructions are one.

    Values of the body have numbers: of its instructions from 0, of its inputs from -1 down.
    """

    def __init__(self, b: Builder, own: int, *, stays: bool = False) -> None:
        self.b = b
        #: Whether what is the same in all passes is to stay inside.
        self._stays = stays
        self.paths: list[Path] = []
        #: The slots outside that passes share, and the numbers of the inputs for them.
        self.shared: dict[int, int] = {}
        self._own = own
        self._kinds: list[Type] = []
        self._before: dict[_Key, int] = {}
        self._inside: dict[_Key, int] = {}
        self._made: list[Instruction] = []
        self._outputs: list[int] = []

    def add(self, traces: Sequence[Trace | None]) -> None:
        """Add all paths; what is the same in all passes is recorded before the loop instead.

        What not all passes compute stays on its paths: its error, or zero times its infinite slope,
        is nobody's where none of these is taken.
        """
        varying = [b"" if trace is None else self._varying(trace) for trace in traces]
        numbers: dict[_Key, int] = {}
        shared = [
            {} if trace is None else _invariants(trace, varies, self._own, numbers)
            for trace, varies in zip(traces, varying, strict=True)
        ]
        passes = [
            {*each.values()} for each, t in zip(shared, traces, strict=True) if t and t.counted
        ]
        common = set.intersection(*passes) if passes else set()
        for trace, varies, each in zip(traces, varying, shared, strict=True):
            if trace is None:
                self.paths.append(Path(known=False))
            else:
                self._add(trace, varies, {slot for slot, n in each.items() if n not in common})

    def _varying(self, trace: Trace) -> bytearray:
        if self._stays:
            return bytearray(b"\1") * len(trace.instructions)
        return _varying(self.b, trace, self._own)

    def _add(self, trace: Trace, varies: Sequence[int], own: Set[int]) -> None:
        """Add a path; of what is the same in all passes, its ``own`` slots are computed there."""
        made, start = trace.instructions, trace.start
        self._kinds = [i.type for i in made[: self._own]]
        inside = {start + i: -1 - i for i in range(self._own)}
        outside: dict[int, int] = {}
        decisions: list[tuple[int, bool]] = []
        fixed: set[int] = set()  # made of constants alone, which optimising folds where it is read

        def is_fixed(slot: int) -> bool:
            before = slot < start and isinstance(self.b.instructions[slot].op, Constant)
            return before or slot in fixed

        def before(slot: int) -> int:
            if slot >= start and slot not in outside:
                moved = tuple([before(arg) for arg in made[slot - start].args])
                outside[slot] = self._outside(made[slot - start], moved)
            return outside.get(slot, slot)

        def number(slot: int) -> int:
            if slot not in inside:
                at = outside.get(slot, slot)
                instruction = self.b.instructions[at]
                if isinstance(instruction.op, Constant):
                    inside[slot] = self._number(instruction, ())
                else:
                    inside[slot] = -1 - self.shared.setdefault(at, self._own + len(self.shared))
            return inside[slot]

        origin = self.b.origin
        for slot in needed(trace, self._own):
            op, args, kind, self.b.origin = instruction = made[slot - start]
            if isinstance(op, Guard) and (
                varies[slot - start]
                or slot in trace.decides
                or (args[0] not in fixed and self._may_differ(before(args[0])))
            ):
                decisions.append((number(args[0]), bool(op.expected)))
            elif isinstance(op, Guard):  # within a path nothing would read it, so none would look
                before(slot)
            elif varies[slot - start] or (decisions and slot in own):
                inside[slot] = self._number(instruction, tuple([number(arg) for arg in args]))
            elif _is_folded(op, kind) and all(map(is_fixed, args)):
                fixed.add(slot)
                inside[slot] = self._number(instruction, tuple([number(arg) for arg in args]))
            else:
                before(slot)
        self.b.origin = origin
        outputs = [number(slot) for slot in trace.outputs]
        first = len(self._outputs)
        self._outputs += [*outputs, *[decided for decided, _ in decisions]]
        last = first + len(outputs)
        decided = enumerate([outcome for _, outcome in decisions], last)
        path = Path(tuple(range(first, last)), tuple(decided), trace.ends, trace.counted)
        self.paths.append(path)

    def tape(self) -> Tape:
        """All paths, together."""
        kinds = [*self._kinds, *[self.b.vars[slot].type for slot in self.shared]]
        count, origin = len(kinds), self.b.origin
        inputs = [Instruction(Input(i), (), kind, origin) for i, kind in enumerate(kinds)]

        def slots(numbers: Sequence[int]) -> tuple[int, ...]:
            return tuple([count + n if n >= 0 else -1 - n for n in numbers])

        made = [i._replace(args=slots(i.args)) for i in self._made]
        return Tape((*inputs, *made), tuple(range(count)), slots(self._outputs))

    def _may_differ(self, slot: int) -> bool:
        """True if what is the same in all passes differs from pass to pass of a loop around."""
        return any(around.holds(self.b.vars[slot]) for around in self.b.regions)

    def _number(self, instruction: Instruction, args: tuple[int, ...]) -> int:
        """The number of an instruction of the body."""
        key = instruction.op, args, instruction.type
        if key not in self._inside:
            self._inside[key] = len(self._made)
            self._made.append(instruction._replace(args=args))
        return self._inside[key]

    def _outside(self, instruction: Instruction, args: tuple[int, ...]) -> int:
        """The slot of an instruction before the loop."""
        key = instruction.op, args, instruction.type
        if key not in self._before:
            self._before[key] = self.b.again(*key).slot
            self.b.early.add(key[0])
        return self._before[key]


def _is_folded(op: Op, kind: Type) -> bool:
    """True if optimising folds it, if its operands are constants."""
    folded = op.elementwise or isinstance(op, Constant | Copy | AsType)
    return folded and kind.nbytes <= _FOLDED_BYTES


def _varying(b: Builder, trace: Trace, own: int) -> bytearray:
    """Mark the instructions that depend on a stand-in, and those of stacks that such ones read.

    For stacks have no place among what passes share: their cotangents do not add up as arrays'.
    """
    made, start = trace.instructions, trace.start
    varies = bytearray(len(made))
    varies[:own] = b"\1" * own
    for i in range(own, len(made)):
        for arg in made[i].args:
            if arg >= start and varies[arg - start]:
                varies[i] = 1
                break
    for i in range(len(made) - 1, own - 1, -1):
        if varies[i]:
            for arg in made[i].args:
                kind = (made[arg - start] if arg >= start else b.instructions[arg]).type
                if not isinstance(kind, ArrayType):
                    if arg < start:
                        raise MustUnroll("passes share a stack")
                    varies[arg - start] = 1
    return varies


def _invariants(
    trace: Trace, varies: Sequence[int], own: int, numbers: dict[_Key, int]
) -> dict[int, int]:
    """The slots that are the same in all passes, with numbers that equal ones of paths share."""
    made, start = trace.instructions, trace.start
    found: dict[int, int] = {}
    for slot in needed(trace, own):
        op, args, kind, _ = made[slot - start]
        if not varies[slot - start]:
            key = op, tuple([arg if arg < start else found[arg] for arg in args]), kind
            found[slot] = numbers.setdefault(key, -1 - len(numbers))
    return found


def needed(trace: Trace, own: int) -> list[int]:
    """The slots that the outputs and decisions of a trace are computed from, less stand-ins."""
    made, start = trace.instructions, trace.start
    first = start + own
    needed = {slot for slot in trace.outputs if slot >= first}
    for slot in range(start + len(made) - 1, first - 1, -1):
        if slot in needed or isinstance(made[slot - start].op, Guard):
            needed.add(slot)
            needed.update([arg for arg in made[slot - start].args if arg >= first])
    return sorted(needed)
