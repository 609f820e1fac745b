"""The needed part of a tape: values that are read, and of loops the results that are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter

from gradwire_engine.answer import Poll
from gradwire_engine.loops.loop import Body, Loop
from gradwire_engine.ops.constants import Copy, Guard, Input, Item
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape
from gradwire_engine.traversal import ancestors, renumbered

_ALWAYS_LIVE = frozenset((Guard, Input))


def readers(
    instructions: Sequence[Instruction], outputs: Iterable[int], poll: Poll = no_deadline
) -> list[int]:
    """The number of readers of each slot, counting those that are needed; 0 is dead code.

    Needed is all that ``outputs``, guards or inputs depend on. Outputs count as read twice: what is
    given is never for one reader alone.
    """
    counts = [0] * len(instructions)
    for slot in outputs:
        counts[slot] = 2
    slot = len(instructions)
    for op, args, _, _ in polled(instructions[::-1], poll):
        slot -= 1
        if counts[slot]:
            for arg in args:
                counts[arg] += 1
        elif type(op) in _ALWAYS_LIVE:
            counts[slot] = 1
            for arg in args:
                counts[arg] += 1
    return counts


def shrunk(
    tape: Tape, optimize: Callable[[Tape], Tape], poll: Poll
) -> Sequence[Instruction] | None:
    """The instructions, their loops without what nothing reads; None if there are no loops.

    ``optimize`` does the same, and more, for the tapes of bodies.
    """
    instructions = tape.instructions
    if Loop not in map(type, map(itemgetter(0), instructions)):
        return None
    made = list(instructions)
    live = bytearray(len(made))
    wanted: dict[int, set[int]] = {}
    for slot in tape.outputs:
        live[slot] = 1
        if isinstance(made[slot].op, Loop):
            wanted[slot] = {*range(len(made[slot].type.items))}  # type: ignore[union-attr]
    for slot in polled(range(len(made) - 1, -1, -1), poll):
        op, args, _, _ = made[slot]
        if not live[slot] and type(op) not in _ALWAYS_LIVE:
            continue
        live[slot] = 1
        if isinstance(op, Item) and made[args[0]].op.forwards:
            args = (made[args[0]].args[op.index],)
            op = Copy()
            made[slot] = made[slot]._replace(op=op, args=args)
        if isinstance(op, Loop):
            op, args = _without_unread(op, args, wanted[slot], optimize)
            made[slot] = made[slot]._replace(op=op, args=args)
        elif isinstance(op, Item):
            wanted.setdefault(args[0], set()).add(op.index)
        for arg in args:
            live[arg] = 1
    return made


def _without_unread(
    op: Loop, args: tuple[int, ...], wanted: set[int], optimize: Callable[[Tape], Tape]
) -> tuple[Loop, tuple[int, ...]]:
    """A loop that makes only the ``wanted`` results, of what they need."""
    needed = _needed_carries(op, wanted)
    body = optimize(_giving(op, wanted, needed))
    first, ahead = 1 + op.carries, op.counted + op.carries
    read = _inputs_of(body, body.outputs)
    kept = [*range(first), *[i for i in range(first, len(body.inputs)) if i in read]]
    stacks = sum(first <= i < first + op.stacks for i in kept)
    left = (*args[:ahead], *[args[ahead + i - first] for i in kept[first:]])
    taking = Body(_taking(body, kept))
    return replace(op, body=taking, stacks=stacks, wanted=frozenset(wanted)), left


def _needed_carries(op: Loop, wanted: set[int]) -> set[int]:
    """The carries that are wanted, or that what is wanted of a later pass depends on."""
    carries = range(op.carries)
    needed = {c for c in carries if c in wanted or op.saved(c) in wanted}
    while True:
        numbers = [number for path in op.paths for number, _ in path.decisions]
        for path in op.paths:
            for i, number in enumerate(path.outputs):
                if i in needed or (i >= op.carries and i in wanted):
                    numbers.append(number)
        tape = op.body.tape
        read = _inputs_of(tape, [tape.outputs[number] for number in numbers])
        more = {number - 1 for number in read if 1 <= number <= op.carries}
        if more <= needed:
            return needed
        needed |= more


def _giving(op: Loop, wanted: set[int], needed: set[int]) -> Tape:
    """The body that leaves unneeded carries alone, and writes the number for other items."""
    tape = op.body.tape
    outputs = [*tape.outputs]
    for path in op.paths:
        for i, number in enumerate(path.outputs):
            if i < op.carries and i not in needed:
                outputs[number] = tape.inputs[1 + i]
            elif i >= op.carries and i not in wanted:
                outputs[number] = tape.inputs[0]
    return replace(tape, outputs=tuple(outputs))


def _inputs_of(tape: Tape, slots: Sequence[int]) -> set[int]:
    """The numbers of the inputs that slots are computed from."""
    ops = [tape.instructions[slot].op for slot in ancestors(tape.instructions, slots)]
    return {op.index for op in ops if isinstance(op, Input)}


def _taking(tape: Tape, kept: Sequence[int]) -> Tape:
    """A tape of fewer inputs."""
    made, live = list(tape.instructions), [1] * len(tape.instructions)
    for slot in tape.inputs:
        live[slot] = 0
    inputs = [tape.inputs[number] for number in kept]
    for number, slot in enumerate(inputs):
        made[slot], live[slot] = made[slot]._replace(op=Input(number)), 1
    return renumbered(made, live, inputs, tape.outputs)
