"""Finds where values stopped being finite: replays again, checking every instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Array, Direction, Poll, Range
from gradwire_engine.backends.base import Backend, evaluated
from gradwire_engine.backends.reference.loops import Pass, passes
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Guard, Item
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.polling import no_deadline
from gradwire_engine.tape import Instruction, Tape
from gradwire_engine.traversal import dead_after

#: From an operation and its operands to its result.
Evaluate: TypeAlias = Callable[..., Any]


class NonfiniteResult(NamedTuple):
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


def nonfinite_results(
    tape: Tape, inputs: Sequence[Array], backend: Backend, poll: Poll
) -> dict[int, NonfiniteResult]:
    """All results that are not finite, by slot, in no more memory than a replay takes."""

    def evaluate(op: Op, *operands: Any) -> Any:
        poll()
        return None if isinstance(op, Guard) else backend.evaluate(op, poll, *operands)

    found: dict[int, NonfiniteResult] = {}
    dead = dead_after(tape, poll)
    with np.errstate(all="ignore"):
        slots = range(len(tape.instructions))
        for slot, operands, value in evaluated(tape, inputs, slots, evaluate, dead):
            if not _finite(value):
                found[slot] = _nonfinite_result(tape, slot, operands, value, evaluate)
    return found


def first_nonfinite(tape: Tape, found: dict[int, NonfiniteResult]) -> dict[Direction, int]:
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


def _nonfinite_result(
    tape: Tape, slot: int, operands: Sequence[Any], value: Any, evaluate: Evaluate
) -> NonfiniteResult:
    op, args, _, _ = instruction = tape.instructions[slot]
    if not args:
        ranges: tuple[Range, ...] = (_range(value),)
        return NonfiniteResult(instruction, (), made=False, undefined=False, operands=ranges)
    if isinstance(op, Item):
        operands = [value]  # of several results the one that it picks
    which, made = _origins(op, operands, value)
    given = [args[i] for i in which]
    if isinstance(op, Loop) and made:
        instruction, operands = _first_of_passes(op, operands, evaluate) or (instruction, operands)
    entered = all(_direction(tape, arg) != _direction(tape, slot) for arg in given)
    ranges = tuple([_range(x) for x in operands]) if made or entered else ()
    undefined = not isinstance(value, tuple) and bool(np.isnan(value).any())
    return NonfiniteResult(instruction, given, made, undefined, ranges)


def _first_of_passes(
    op: Loop, operands: Sequence[Any], evaluate: Evaluate
) -> tuple[Instruction, Sequence[Any]] | None:
    """The first instruction in any pass that made what is not finite, and its operands."""

    def begin(tape: Tape, inputs: Sequence[Any]) -> _Pass:
        return _Pass(tape, inputs, evaluate)

    for _, made, *_ in passes(op, operands, no_deadline, begin):
        if made.first is not None:
            return made.first
    return None


class _Pass(Pass):
    """A pass that remembers what made it not finite."""

    #: The first instruction that did, and its operands.
    first: tuple[Instruction, Sequence[Any]] | None = None

    def computed(self, instruction: Instruction, operands: Sequence[Any], value: Any) -> None:
        """Look at a value."""
        op, args, _, _ = instruction
        if self.first is not None or not args or isinstance(op, Item) or _finite(value):
            return
        if _origins(op, operands, value)[1]:
            self.first = instruction, operands
            if isinstance(op, Loop):
                self.first = _first_of_passes(op, operands, self._evaluate) or self.first


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
