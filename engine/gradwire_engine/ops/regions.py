"""Regions: ranges of the tape under construction that become the body of a loop.

A region begins with stand-ins for what passes read. What is recorded after them and depends on one
moves into the body; the rest is the same in all passes, and stays before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.boundaries import Ruled
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant, Copy, Guard, Input, Item
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.loops import COUNT, Body, Carried, Loop, Unrollable, Way
from gradwire_engine.ops.rules import Taped
from gradwire_engine.tape import ArrayType, Instruction, Tape, Type

#: Most ways through a body.
MOST_WAYS = 32
#: Bytes up to which what is made of constants alone is left to be folded where it is read.
_FOLDED_BYTES = 64
_NUMBER = ArrayType(COUNT.dtype, (), weak=True)


class Piece(NamedTuple):
    """What was recorded in a region: its instructions, numbered from ``start``, and the results."""

    start: int
    instructions: Sequence[Instruction]
    outputs: Sequence[int]
    ends: bool
    counted: bool


class Region:
    """A region that is open: variables that stand for the pass's number, carries and items."""

    def __init__(
        self, b: Builder, carries: Sequence[ArrayType], items: Sequence[ArrayType]
    ) -> None:
        self.b = b
        self.start = len(b.vars)
        kinds = [_NUMBER, *carries, *items]
        self.stand_ins = [b.carried(Carried(self, i), kind) for i, kind in enumerate(kinds)]
        self.first = len(b.vars)
        self.number = self.stand_ins[0]
        self.carries = self.stand_ins[1 : 1 + len(carries)]
        self.items = self.stand_ins[1 + len(carries) :]
        #: Pairs of slots: of a source that a derivative was taken in, and of a stand-in on the way,
        #: or of what is read from outside.
        self.asked: set[tuple[int, int]] = set()
        #: What the first decisions have to be, and all that were made.
        self.forced: Sequence[bool] = ()
        self.decisions: list[bool] = []
        #: Whether one of them depends on more than the number of the pass.
        self.by_values = False

    def holds(self, var: Var) -> bool:
        """Whether ``var`` depends on what differs from pass to pass."""
        return min(self.ancestors([var]), default=self.first) < self.first

    def note(self, targets: Sequence[Var], sources: Sequence[Var]) -> None:
        """Remember that a derivative in ``sources`` takes stand-ins beside them as constant."""
        inside = self.ancestors(targets)
        reached = {slot for slot in inside if slot < self.first}
        reached |= {a for slot in inside for a in self.b.instructions[slot].args if a < self.start}
        reached -= {source.slot for source in sources}
        asked = [source.slot for source in sources if source.slot < self.first]
        self.asked.update((source, slot) for source in asked for slot in reached)

    def ancestors(self, variables: Sequence[Var]) -> set[int]:
        """The slots of this region that ``variables`` are computed from, themselves included."""
        found: set[int] = set()
        pending = [var.slot for var in variables]
        while pending:
            slot = pending.pop()
            if slot >= self.start and slot not in found:
                found.add(slot)
                pending.extend(self.b.instructions[slot].args)
        return found

    def decide(self, var: Var) -> bool:
        """The next decision, which depends on ``var``: as it is forced, else true."""
        self.by_values |= any(self.start < slot < self.first for slot in self.ancestors([var]))
        made, forced = self.decisions, self.forced
        if len(made) - len(forced) >= MOST_WAYS:  # each that is not forced parts a way
            raise Unrollable("there are too many ways through the body")
        made.append(forced[len(made)] if len(made) < len(forced) else True)
        return made[-1]

    def piece(self, outputs: Sequence[Var], *, ends: bool = False, counted: bool = True) -> Piece:
        """What has been recorded, as a way that gives ``outputs``."""
        slots = [out.slot for out in outputs]
        made = self.b.instructions[self.start :]
        for i, instruction in enumerate(made):
            if isinstance(instruction.op, Ruled):
                made[i] = _taped(self.b, self.start + i, made, self.start)
        return Piece(self.start, made, slots, ends, counted)


@contextmanager
def region(
    b: Builder, carries: Sequence[ArrayType], items: Sequence[ArrayType] = ()
) -> Iterator[Region]:
    """Record a region: what is recorded meanwhile is forgotten afterwards, but for its pieces."""
    origin = b.origin
    try:
        with b.aside():
            opened = Region(b, carries, items)
            b.regions.append(opened)
            try:
                yield opened
            finally:
                b.regions.pop()
    finally:
        b.origin = origin


class Plan(NamedTuple):
    """A loop that is not emitted yet: the instruction, and what all its passes share."""

    op: Loop
    shared: Sequence[Var]

    def emit(self, b: Builder, carries: Sequence[Var], stacks: Sequence[Var], *count: Var) -> Var:
        """Emit it, to begin with ``carries``."""
        return b.emit(self.op, *count, *carries, *stacks, *self.shared)


def planned(
    b: Builder,
    pieces: Sequence[Piece | None],
    carries: int,
    stacks: int,
    *,
    counted: bool,
    backward: bool = False,
    passes: int | None = None,
) -> Plan:
    """The loop whose ways are ``pieces``, None for one that could not be recorded."""
    body = _Body(b, 1 + carries + stacks)
    for piece in pieces:
        body.add(piece)
    written = max(len(way.outputs) for way in body.ways) - carries
    most_bytes, ways = b.limits.total_bytes, tuple(body.ways)
    op = Loop(
        Body(body.tape()), ways, carries, stacks, written, counted, backward, passes, most_bytes
    )
    return Plan(op, [b.vars[slot] for slot in body.shared])


def loop(
    b: Builder,
    pieces: Sequence[Piece | None],
    carries: Sequence[Var],
    stacks: Sequence[Var] = (),
    count: Var | None = None,
    *,
    backward: bool = False,
    passes: int | None = None,
) -> Var:
    """Emit the loop whose ways are ``pieces``, None for one that could not be recorded."""
    counts = [] if count is None else [count]
    plan = planned(
        b,
        pieces,
        len(carries),
        len(stacks),
        counted=bool(counts),
        backward=backward,
        passes=passes,
    )
    return plan.emit(b, carries, stacks, *counts)


def item(result: Var, number: int) -> Var:
    """A result of an instruction that has several."""
    return Item(number)(result)


#: An instruction by what it computes, of what, and its type.
_Key: TypeAlias = tuple[Op, tuple[int, ...], Type]


class _Body:
    """Ways on their way into one body, in which equal instructions are one.

    Values of the body have numbers: of its instructions from 0, of its inputs from -1 down.
    """

    def __init__(self, b: Builder, own: int, *, stays: bool = False) -> None:
        self.b = b
        #: Whether what is the same in all passes is to stay inside.
        self._stays = stays
        self.ways: list[Way] = []
        #: The slots outside that passes share, and the numbers of the inputs for them.
        self.shared: dict[int, int] = {}
        self._own = own
        self._kinds: list[Type] = []
        self._before: dict[_Key, int] = {}
        self._inside: dict[_Key, int] = {}
        self._made: list[Instruction] = []
        self._outputs: list[int] = []

    def add(self, piece: Piece | None) -> None:
        """Add a way; what is the same in all passes is recorded before the loop instead."""
        if piece is None:
            self.ways.append(Way(known=False))
            return
        made, start = piece.instructions, piece.start
        self._kinds = [i.type for i in made[: self._own]]
        varies = _varying(self.b, piece, self._own)
        if self._stays:
            varies = bytearray(b"\1") * len(made)
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
        for slot in _needed(piece, self._own):
            op, args, kind, self.b.origin = instruction = made[slot - start]
            if isinstance(op, Guard) and (
                varies[slot - start] or self._may_differ(args[0], outside)
            ):
                decisions.append((number(args[0]), bool(op.expected)))
            elif varies[slot - start]:
                inside[slot] = self._number(instruction, tuple([number(arg) for arg in args]))
            elif _is_folded(op, kind) and all(map(is_fixed, args)):
                fixed.add(slot)
                inside[slot] = self._number(instruction, tuple([number(arg) for arg in args]))
            else:
                before(slot)
        self.b.origin = origin
        outputs = [number(slot) for slot in piece.outputs]
        first = len(self._outputs)
        self._outputs += [*outputs, *[decided for decided, _ in decisions]]
        last = first + len(outputs)
        decided = enumerate([outcome for _, outcome in decisions], last)
        way = Way(tuple(range(first, last)), tuple(decided), piece.ends, piece.counted)
        self.ways.append(way)

    def tape(self) -> Tape:
        """All ways, together."""
        kinds = [*self._kinds, *[self.b.vars[slot].type for slot in self.shared]]
        count, origin = len(kinds), self.b.origin
        inputs = [Instruction(Input(i), (), kind, origin) for i, kind in enumerate(kinds)]

        def slots(numbers: Sequence[int]) -> tuple[int, ...]:
            return tuple([count + n if n >= 0 else -1 - n for n in numbers])

        made = [i._replace(args=slots(i.args)) for i in self._made]
        return Tape((*inputs, *made), tuple(range(count)), slots(self._outputs))

    def _may_differ(self, slot: int, outside: Mapping[int, int]) -> bool:
        """Whether what is the same in all passes differs from pass to pass of a loop around."""
        var = self.b.vars[outside.get(slot, slot)]
        return any(around.holds(var) for around in self.b.regions)

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
        return self._before[key]


def _taped(b: Builder, slot: int, made: Sequence[Instruction], start: int) -> Instruction:
    """A ``Ruled`` instruction with its rule recorded."""
    op, args, kind, origin = made[slot - start]
    assert isinstance(op, Ruled)
    results = [b.vars[arg] for arg in args[: op.count]]
    kinds = [ArrayType(x.dtype, x.shape) for x in results]
    with region(b, [*kinds, *kinds]) as opened:
        bars = op.rule(opened.carries[: op.count])
        of_items = {
            at: opened.carries[op.count + i.op.index].slot
            for at, i in enumerate(made, start)
            if isinstance(i.op, Item) and i.args == (slot,)
        }
        piece = _reading(opened.piece([bar for bar in bars if bar is not None]), of_items)
        if opened.decisions:
            raise Unrollable("a rule decides by values")
    given = tuple([op.count + number for number, bar in enumerate(bars) if bar is not None])
    taped, read = taped_rule(b, piece, op.count, given)
    if any(x.slot >= slot for x in read):
        raise Unrollable("a rule reads what is computed later")
    return Instruction(taped, (*args, *[x.slot for x in read]), kind, origin)


def taped_rule(
    b: Builder, piece: Piece, count: int, given: tuple[int, ...]
) -> tuple[Taped, list[Var]]:
    """The instruction whose rule is ``piece``, and what that reads besides."""
    body = _Body(b, 1 + 2 * count, stays=True)
    body.add(piece)
    read = [b.vars[slot] for slot in body.shared]
    return Taped(count, given, len(read), Body(body.tape())), read


def _reading(piece: Piece, others: Mapping[int, int]) -> Piece:
    """A piece that reads other slots instead of some."""
    made = [
        i._replace(args=tuple([others.get(arg, arg) for arg in i.args])) for i in piece.instructions
    ]
    outputs = [others.get(slot, slot) for slot in piece.outputs]
    return piece._replace(instructions=made, outputs=outputs)


def _is_folded(op: Op, kind: Type) -> bool:
    """Whether optimising folds it, if its operands are constants."""
    folded = op.elementwise or isinstance(op, Constant | Copy | AsType)
    return folded and kind.nbytes <= _FOLDED_BYTES


def _varying(b: Builder, piece: Piece, own: int) -> bytearray:
    """Mark the instructions that depend on a stand-in, and those of stacks that such ones read.

    For stacks have no place among what passes share: their cotangents do not add up as arrays'.
    """
    made, start = piece.instructions, piece.start
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
                        raise Unrollable("passes share a stack")
                    varies[arg - start] = 1
    return varies


def _needed(piece: Piece, own: int) -> list[int]:
    """The slots that the outputs and decisions of a piece are computed from, less stand-ins."""
    made, start = piece.instructions, piece.start
    first = start + own
    needed = {slot for slot in piece.outputs if slot >= first}
    for slot in range(start + len(made) - 1, first - 1, -1):
        if slot in needed or isinstance(made[slot - start].op, Guard):
            needed.add(slot)
            needed.update([arg for arg in made[slot - start].args if arg >= first])
    return sorted(needed)


def settled(b: Builder, piece: Piece) -> list[Var]:
    """The outputs of a piece that depends on no stand-in, recorded again where it is to stay."""
    moved: dict[int, int] = {}
    before = b.origin
    for slot in _needed(piece, 0):
        op, args, kind, b.origin = piece.instructions[slot - piece.start]
        moved[slot] = b.again(op, tuple([moved.get(arg, arg) for arg in args]), kind).slot
    b.origin = before
    return [b.vars[moved.get(slot, slot)] for slot in piece.outputs]
