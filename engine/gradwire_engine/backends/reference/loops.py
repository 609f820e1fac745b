"""A loop, pass by pass, each value computed when something needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import note_place
from gradwire_engine.errors import OverBudget
from gradwire_engine.loops.loop import Loop, Path
from gradwire_engine.ops.constants import UnrecordedPath
from gradwire_engine.tape import Instruction, StackType, Tape
from gradwire_engine.traversal import ancestors

P = TypeVar("P", bound="Pass")


class Pass:
    """One pass: the values of its body, computed when they are asked for."""

    def __init__(self, tape: Tape, inputs: Sequence[Any], evaluate: Callable[..., Any]) -> None:
        self._tape = tape
        self._evaluate = evaluate
        self._values: dict[int, Any] = dict(zip(tape.inputs, inputs, strict=True))

    def path(self, loop: Loop) -> tuple[int, Path]:
        """The path that the decisions take, and its number.

        Raises: ``UnrecordedPath`` where it was not recorded.
        """
        for number, path in enumerate(loop.paths):
            if path.known and all(self.output(i) == outcome for i, outcome in path.decisions):
                return number, path
        raise UnrecordedPath

    def output(self, number: int) -> Any:
        """The value of an output of the body."""
        made, slot = self._tape.instructions, self._tape.outputs[number]
        for needed in sorted(ancestors(made, [slot], self._values)):
            operands = [self._values[arg] for arg in made[needed].args]
            try:
                value = self._values[needed] = self._evaluate(made[needed].op, *operands)
            except Exception as error:
                note_place(error, made[needed])
                raise
            self.computed(made[needed], operands, value)
        return self._values[slot]

    def computed(self, instruction: Instruction, operands: Sequence[Any], value: Any) -> None:
        """Hear of a value that was computed."""


def passes(
    op: Loop,
    operands: Sequence[Any],
    poll: Poll,
    begin: Callable[[Tape, Sequence[Any]], P],
) -> Iterator[tuple[int, P, int, Path, Sequence[Any], Sequence[Any]]]:
    """Make the passes one after the other.

    Gives the number of each, itself, its path's number and its path, the carries that it began
    with, and what it leaves: the next carries, then what is written.
    """
    first, last = op.counted + op.carries, op.counted + op.carries + op.stacks
    carries, stacks, shared = operands[op.counted : first], operands[first:last], operands[last:]
    turns = range(int(operands[0])) if op.counted else count()
    for k in reversed(turns) if op.backward and isinstance(turns, range) else turns:
        poll()
        made = begin(op.body.tape, [np.int64(k), *carries, *[s[k] for s in stacks], *shared])
        number, path = made.path(op)
        left = [made.output(output) for output in path.outputs]
        yield k, made, number, path, carries, left
        if path.ends:
            return
        carries = left[: op.carries]


def run(op: Loop, operands: Sequence[Any], poll: Poll, evaluate: Callable[..., Any]) -> Any:
    """The results of a loop, None for those that are not wanted."""
    check = stack_check(op)
    kinds = op.infer().items
    stacks: dict[int, list[Any]] = {
        n: [] for n, kind in enumerate(kinds) if isinstance(kind, StackType) and op.wants(n)
    }
    carries = operands[op.counted : op.counted + op.carries]
    total = int(operands[0]) if op.counted else 0

    def begin(tape: Tape, inputs: Sequence[Any]) -> Pass:
        return Pass(tape, inputs, evaluate)

    for k, _, number, path, begun, left in passes(op, operands, poll, begin):
        check(k)
        if path.counted:
            written = {op.saved(c): x for c, x in enumerate(begun)}
            written |= {op.output(w): x for w, x in enumerate(left[op.carries :])}
            written[op.branches] = np.int64(number)
            for result, stack in stacks.items():
                stack.append(written[result])
            carries = left[: op.carries]
        if path.ends:
            total = k + path.counted
    results: dict[int, Any] = {**dict(enumerate(carries)), **stacks, op.trip_count: np.int64(total)}
    if op.backward:
        for stack in stacks.values():
            stack.reverse()
    return tuple([results[n] if op.wants(n) else None for n in range(len(kinds))])


def stack_check(op: Loop) -> Callable[[int], None]:
    """A function that refuses stacks of so many passes that take more memory than is allowed."""
    each, most = op.kept_bytes, op.most_bytes

    def check(passes: int) -> None:
        if passes * each > most:
            raise OverBudget(
                f"the loop keeps {each} bytes of each pass, more than {most} in all",
                hint="checkpoint computes them again instead of keeping them",
            )

    return check if each else lambda passes: None
