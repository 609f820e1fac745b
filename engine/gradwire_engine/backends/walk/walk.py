"""A tape as a walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup, Line
from gradwire_engine.backends.plan import Plan
from gradwire_engine.backends.walk.finite import unsure
from gradwire_engine.backends.walk.loops import Loops
from gradwire_engine.backends.walk.steps import Steps, lines, walk
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape, scalar_char

#: All outputs, and those of them that are not known to be finite.
Outputs: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]


class Walk:
    """Computes the outputs of a tape from its inputs."""

    def __init__(self, tape: Tape, plan: Plan, loops: Loops, poll: Poll = no_deadline) -> None:
        made, dead, polls = tape.instructions, plan.dead, plan.polls
        #: The number of inputs that are read.
        self._inputs = 1 + max([made[slot].op.index for slot in tape.inputs], default=-1)  # type: ignore[attr-defined]
        room: list[Any] = [None] * (1 + self._inputs)
        steps = Steps(room, lambda op: loops.function(op, poll))
        where: list[int] = []
        kept: set[int] = {*tape.inputs}
        due = False
        flags: list[int] = []
        for slot, instruction in enumerate(polled(made, poll)):
            op, args, kind, _ = instruction
            due = due or slot in polls
            if type(op) is Input:
                where.append(1 + op.index)
                continue
            if type(op) is Constant:
                where.append(steps.place(op.value))
                kept.add(slot)
                continue
            gone = [d for d in dead[slot] or () if d != slot and d not in kept]
            at, operands = map(where.__getitem__, args), map(made.__getitem__, args)
            released = [(where[d], made[d].type.nbytes) for d in gone]
            to = steps.compute(instruction, [*at], [*operands], released)
            where.append(to)
            if isinstance(op, FusedGroup):
                kept.add(slot)
                flags += [to + len(op.results)] if op.checked else []
            elif dead[slot] and slot in dead[slot]:
                steps.release(to, kind.nbytes, instruction)
            if due:
                steps.poll(instruction)
                due = False
        self._steps, self._instructions = steps.list, steps.instructions
        self._room = room[1 + self._inputs :]
        #: The places of scalars among the inputs, which may be sent as arrays without axes.
        self._scalars = [where[slot] for slot in tape.inputs if scalar_char(made[slot].type)]
        self._outputs = _getter([where[slot] for slot in tape.outputs])
        checked = {n for n, slot in enumerate(tape.outputs) if _is_checked(made, slot)}
        kinds = [made[slot].type for slot in tape.outputs]
        self._unsure = unsure(kinds, checked, flags)

    def lines(self) -> list[Line]:
        """The steps as text."""
        return lines(self._steps, self._instructions)

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Outputs:
        """Compute the outputs."""
        values = [poll, *inputs[: self._inputs], *self._room]
        for place in self._scalars:
            values[place] = values[place][()]
        walk(self._steps, self._instructions, values)
        outputs = self._outputs(values)
        return outputs, self._unsure(values, outputs)


def _getter(places: Sequence[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    if len(places) == 1:
        (place,) = places
        return lambda values: (values[place],)
    return itemgetter(*places) if places else lambda values: ()


def _is_checked(made: Sequence[Instruction], slot: int) -> bool:
    """True if a result was checked to be finite where it was made."""
    op, args, _, _ = made[slot]
    kernel = made[args[0]].op if isinstance(op, Item) else None
    return isinstance(kernel, FusedGroup) and op.index in kernel.checked  # type: ignore[attr-defined]
