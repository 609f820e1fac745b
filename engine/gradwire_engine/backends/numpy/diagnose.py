"""Where values stopped being finite: replay again, looking at every instruction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Array, Direction, Poll, Range
from gradwire_engine.backends.numpy.loops import bound
from gradwire_engine.backends.numpy.plan import plan
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Guard, Input, Item
from gradwire_engine.ops.loops import Loop, Way
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.tape import Instruction, Tape


class Lapse(NamedTuple):
    """A result that is not finite.

    It has this from the slots ``given``; ``made`` says that some is its own, ``undefined`` that
    some is NaN. ``operands`` are kept of one that may be the first. Of a loop, ``instruction`` and
    they are those of its body in the pass that made it.
    """

    instruction: Instruction
    given: Sequence[int]
    made: bool
    undefined: bool
    operands: tuple[Range, ...]


def lapses(tape: Tape, inputs: Sequence[Array], poll: Poll) -> dict[int, Lapse]:
    """All results that are not finite, by slot, in no more memory than a replay takes."""
    found: dict[int, Lapse] = {}
    values: list[Any] = [None] * len(tape.instructions)
    dead = plan(tape, poll).dead
    with np.errstate(all="ignore"):
        for slot, (op, args, _, _) in enumerate(tape.instructions):
            if isinstance(op, Guard):
                continue  # it held
            poll()
            operands = [inputs[op.index]] if isinstance(op, Input) else [values[a] for a in args]
            value = values[slot] = bound(op, poll)(*operands)
            if not _finite(value):
                found[slot] = _lapse(tape, slot, operands, value, poll)
            for gone in dead[slot]:
                values[gone] = None
    return found


def first_lapses(tape: Tape, found: dict[int, Lapse]) -> dict[Direction, int]:
    """The first slots, forward and backward, that made what is not finite in the outputs.

    A slot *made* it if its operands are finite; of an elementwise one, at that element. Where none
    did, it is the first that has it from elsewhere: a source, or backward a forward value.
    """
    pending = [slot for slot in tape.outputs if slot in found]
    reached: set[int] = set()
    while pending:
        slot = pending.pop()
        if slot not in reached:
            reached.add(slot)
            pending += found[slot].given
    first: dict[Direction, int] = {}
    for slot in sorted(reached, key=lambda slot: (not found[slot].made, slot)):
        if found[slot].operands:
            first.setdefault(_direction(tape, slot), slot)
    return first


def _lapse(tape: Tape, slot: int, operands: Sequence[Any], value: Any, poll: Poll) -> Lapse:
    op, args, _, _ = instruction = tape.instructions[slot]
    if not args:
        ranges: tuple[Range, ...] = (_range(value),)
        return Lapse(instruction, (), made=False, undefined=False, operands=ranges)
    if isinstance(op, Item):
        operands = [value]  # of several results the one that it picks
    which, made = _origins(op, operands, value)
    given = [args[i] for i in which]
    if isinstance(op, Loop) and made:
        instruction, operands = _first_of_passes(op, operands, poll) or (instruction, operands)
    entered = all(_direction(tape, arg) != _direction(tape, slot) for arg in given)
    ranges = tuple([_range(x) for x in operands]) if made or entered else ()
    undefined = not isinstance(value, tuple) and bool(np.isnan(value).any())
    return Lapse(instruction, given, made, undefined, ranges)


def _first_of_passes(
    op: Loop, operands: Sequence[Any], poll: Poll
) -> tuple[Instruction, Sequence[Any]] | None:
    """The first instruction in any pass that made what is not finite, and its operands."""
    first, last = op.counted + op.carries, op.counted + op.carries + op.stacks
    carries, stacks, shared = operands[op.counted : first], operands[first:last], operands[last:]
    turns = range(int(operands[0])) if op.counted else count()
    for k in reversed(turns) if op.backward and isinstance(turns, range) else turns:
        poll()
        number = np.int64(k)
        done = _Pass(op.body.tape, [number, *carries, *[s[k] for s in stacks], *shared], poll)
        way = next(way for way in op.ways if way.known and done.takes(way))
        results = [done.value(op.body.tape.outputs[number]) for number in way.outputs]
        if done.first is not None or way.ends:
            return done.first
        carries = results[: op.carries]
    return None


class _Pass:
    """A pass through a body, of which only that is computed which is asked for."""

    def __init__(self, tape: Tape, inputs: Sequence[Any], poll: Poll) -> None:
        self._tape = tape
        self._poll = poll
        self._values = dict(zip(tape.inputs, inputs, strict=True))
        #: The first instruction that made what is not finite, and its operands.
        self.first: tuple[Instruction, Sequence[Any]] | None = None

    def takes(self, way: Way) -> bool:
        """Whether decisions fall so."""
        outputs = self._tape.outputs
        return all(bool(self.value(outputs[i])) is outcome for i, outcome in way.decisions)

    def value(self, slot: int) -> Any:
        """The value of a slot."""
        needed: set[int] = set()
        pending = [slot]
        while pending:
            at = pending.pop()
            if at not in needed and at not in self._values:
                needed.add(at)
                pending.extend(self._tape.instructions[at].args)
        for at in sorted(needed):
            self._compute(at)
        return self._values[slot]

    def _compute(self, slot: int) -> None:
        op, args, _, _ = instruction = self._tape.instructions[slot]
        operands = [self._values[arg] for arg in args]
        value = self._values[slot] = bound(op, self._poll)(*operands)
        if self.first is not None or not args or isinstance(op, Item) or _finite(value):
            return
        if _origins(op, operands, value)[1]:
            inside = _first_of_passes(op, operands, self._poll) if isinstance(op, Loop) else None
            self.first = inside or (instruction, operands)


def _origins(op: Op, operands: Sequence[Any], value: Any) -> tuple[list[int], bool]:
    """The operands that ``value`` is not finite from, and whether some of it is from none."""
    if not op.elementwise:
        given = [i for i, x in enumerate(operands) if not _finite(x)]
        return given, not given
    left = bad = ~np.isfinite(value)
    given = []
    for i, x in enumerate(operands):
        passed = bad & ~np.isfinite(x)
        if isinstance(op, Where):  # of its branches, only what was taken
            passed = passed & (operands[0] if i == 1 else np.logical_not(operands[0]))
        if passed.any():
            given.append(i)
            left = left & ~passed
    return given, bool(left.any())


def _direction(tape: Tape, slot: int) -> Direction:
    return "forward" if tape.instructions[slot].origin >= 0 else "backward"


def _finite(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_finite(item) for item in value)
    return value is None or bool(np.isfinite(value).all())  # None: what nothing reads of a loop


def _range(value: Any) -> Range:
    """Range of the finite elements, of complex ones by their size."""
    array = np.asarray(value)
    finite = np.isfinite(array)
    sizes = array[finite]
    if array.dtype.kind == "c":
        sizes = np.abs(sizes)
    least, most = (float(sizes.min()), float(sizes.max())) if sizes.size else (None, None)
    return Range(array.shape, least, most, array.size - sizes.size)
