"""Regions: ranges of the tape under construction that become the body of a loop.

A region begins with stand-ins for what passes read. What is recorded after them and depends on one
moves into the body; the rest is the same in all passes, and stays before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from gradwire_engine.loops.custom_vjp_tape import CustomVjpTape
from gradwire_engine.loops.loop import COUNT, BlockArgument, Body, Loop, MustUnroll
from gradwire_engine.loops.path_merging import PathMerger, Trace, needed
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Item
from gradwire_engine.tape import ArrayType, Instruction
from gradwire_engine.traversal import ancestors

#: Most paths through a body.
MOST_PATHS = 32
_NUMBER = ArrayType(COUNT.dtype, (), weak=True)


class Region:
    """A region that is open: variables that stand for the pass's number, carries and items."""

    def __init__(
        self, b: Builder, carries: Sequence[ArrayType], items: Sequence[ArrayType]
    ) -> None:
        self.b = b
        self.start = len(b.vars)
        kinds = [_NUMBER, *carries, *items]
        self.stand_ins = [b.again(BlockArgument(self, i), (), kind) for i, kind in enumerate(kinds)]
        self.first = len(b.vars)
        self.number = self.stand_ins[0]
        self.carries = self.stand_ins[1 : 1 + len(carries)]
        self.items = self.stand_ins[1 + len(carries) :]
        #: Pairs of slots: of a source that a derivative was taken in, and of a stand-in on the way,
        #: or of what is read from outside.
        self.asked: set[tuple[int, int]] = set()
        #: The outcomes of the first decisions, and all that were made.
        self.forced: Sequence[bool] = ()
        self.decisions: list[bool] = []
        #: Whether what is the same in all passes decides, too, which path is taken, and the guards
        #: that do.
        self.explores = False
        self.explored: set[int] = set()

    def holds(self, var: Var) -> bool:
        """True if ``var`` depends on what differs from pass to pass."""
        return min(self.ancestors([var]), default=self.first) < self.first

    def note(self, targets: Sequence[Var], sources: Sequence[Var]) -> None:
        """Remember that a derivative in ``sources`` takes stand-ins beside them as constant."""
        inside = self.ancestors(targets)
        reached = {slot for slot in inside if slot < self.first}
        reached |= {a for slot in inside for a in self.b.instructions[slot].args if a < self.start}
        reached |= {target.slot for target in targets if target.slot < self.start}
        reached -= {source.slot for source in sources}
        asked = [source.slot for source in sources if source.slot < self.first]
        self.asked.update((source, slot) for source in asked for slot in reached)

    def ancestors(self, variables: Sequence[Var]) -> set[int]:
        """The slots of this region that ``variables`` are computed from, themselves included."""
        return ancestors(self.b.instructions, [v.slot for v in variables], range(self.start))

    def decide(self, var: Var) -> bool:
        """The next decision, which depends on ``var``: as it is forced, else true."""
        made, forced = self.decisions, self.forced
        if len(made) - len(forced) >= MOST_PATHS:  # each that is not forced adds a path
            raise MustUnroll("there are too many paths through the body")
        made.append(forced[len(made)] if len(made) < len(forced) else True)
        return made[-1]

    def trace(self, outputs: Sequence[Var], *, ends: bool = False, counted: bool = True) -> Trace:
        """The recording so far, as a path that gives ``outputs``."""
        slots = [out.slot for out in outputs]
        made = self.b.instructions[self.start :]
        for i, instruction in enumerate(made):
            if isinstance(instruction.op, CustomVjp):
                made[i] = _taped(self.b, self.start + i, made, self.start)
        return Trace(self.start, made, slots, ends, counted, self.explored)


@contextmanager
def region(
    b: Builder, carries: Sequence[ArrayType], items: Sequence[ArrayType] = ()
) -> Iterator[Region]:
    """Record a region: what is recorded meanwhile is forgotten afterwards, but for its traces."""
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
    traces: Sequence[Trace | None],
    carries: int,
    stacks: int,
    *,
    counted: bool,
    backward: bool = False,
    passes: int | None = None,
) -> Plan:
    """The loop whose paths are ``traces``, None for one that could not be recorded."""
    body = PathMerger(b, 1 + carries + stacks)
    body.add(traces)
    written = max(len(path.outputs) for path in body.paths) - carries
    most_bytes, paths = b.limits.total_bytes, tuple(body.paths)
    op = Loop(
        Body(body.tape()), paths, carries, stacks, written, counted, backward, passes, most_bytes
    )
    return Plan(op, [b.vars[slot] for slot in body.shared])


def loop(
    b: Builder,
    traces: Sequence[Trace | None],
    carries: Sequence[Var],
    stacks: Sequence[Var] = (),
    count: Var | None = None,
    *,
    backward: bool = False,
    passes: int | None = None,
) -> Var:
    """Emit the loop whose paths are ``traces``, None for one that could not be recorded."""
    counts = [] if count is None else [count]
    plan = planned(
        b,
        traces,
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


def _taped(b: Builder, slot: int, made: Sequence[Instruction], start: int) -> Instruction:
    """A ``CustomVjp`` instruction with its rule recorded."""
    op, args, kind, origin = made[slot - start]
    assert isinstance(op, CustomVjp)
    results = [b.vars[arg] for arg in args[: op.count]]
    kinds = [ArrayType(x.dtype, x.shape) for x in results]
    with region(b, [*kinds, *kinds]) as opened:
        bars = op.rule(opened.carries[: op.count])
        of_items = {
            at: opened.carries[op.count + i.op.index].slot
            for at, i in enumerate(made, start)
            if isinstance(i.op, Item) and i.args == (slot,)
        }
        trace = _reading(opened.trace([bar for bar in bars if bar is not None]), of_items)
        if opened.decisions:
            raise MustUnroll("a rule decides by values")
    given = tuple([op.count + number for number, bar in enumerate(bars) if bar is not None])
    taped, read = taped_rule(b, trace, op.count, given)
    if any(x.slot >= slot for x in read):
        raise MustUnroll("a rule reads what is computed later")
    return Instruction(taped, (*args, *[x.slot for x in read]), kind, origin)


def taped_rule(
    b: Builder, trace: Trace, count: int, given: tuple[int, ...]
) -> tuple[CustomVjpTape, list[Var]]:
    """The instruction whose rule is ``trace``, and what that reads besides."""
    body = PathMerger(b, 1 + 2 * count, stays=True)
    body.add([trace])
    read = [b.vars[slot] for slot in body.shared]
    return CustomVjpTape(count, given, len(read), Body(body.tape())), read


def _reading(trace: Trace, others: Mapping[int, int]) -> Trace:
    """A trace that reads other slots instead of some."""
    made = [
        i._replace(args=tuple([others.get(arg, arg) for arg in i.args])) for i in trace.instructions
    ]
    outputs = [others.get(slot, slot) for slot in trace.outputs]
    return trace._replace(instructions=made, outputs=outputs)


def settled(b: Builder, trace: Trace) -> list[Var]:
    """The outputs of a trace that depends on no stand-in, recorded again where it is to stay."""
    moved: dict[int, int] = {}
    before = b.origin
    for slot in needed(trace, 0):
        op, args, kind, b.origin = trace.instructions[slot - trace.start]
        moved[slot] = b.again(op, tuple([moved.get(arg, arg) for arg in args]), kind).slot
    b.origin = before
    return [b.vars[moved.get(slot, slot)] for slot in trace.outputs]
