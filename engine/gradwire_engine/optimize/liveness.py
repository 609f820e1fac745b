"""What of a tape is needed: what something reads, and of loops the results that are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter

from gradwire_engine.answer import Poll
from gradwire_engine.ops.constants import Copy, Guard, Input, Item
from gradwire_engine.ops.loops import Body, Loop
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Tape

_ALWAYS_LIVE = frozenset((Guard, Input))
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def alive(
    instructions: Sequence[Instruction], outputs: Sequence[int], poll: Poll = unhurried
) -> bytearray:
    """Mark the instructions that ``outputs``, guards or inputs need."""
    live = bytearray(len(instructions))
    for slot in outputs:
        live[slot] = 1
    slot = len(instructions)
    for op, args, _, _ in polled(instructions[::-1], poll):
        slot -= 1
        if live[slot]:
            for arg in args:
                live[arg] = 1
        elif type(op) in _ALWAYS_LIVE:
            live[slot] = 1
            for arg in args:
                live[arg] = 1
    return live


def compacted(
    instructions: Sequence[Instruction],
    inputs: Sequence[int],
    outputs: Sequence[int],
    poll: Poll = unhurried,
) -> Tape:
    """Drop what nothing needs any more, and number the rest anew."""
    live = alive(instructions, outputs, poll)
    first = live.find(0)  # what is before it stays as it is
    if first < 0:
        return Tape(tuple(instructions), tuple(inputs), tuple(outputs))
    moved, kept = [*range(first)], [*instructions[:first]]
    rest = polled(instructions[first:], poll)
    for lives, (op, args, kind, origin) in zip(live[first:], rest, strict=True):
        moved.append(len(kept))
        if lives:
            if len(args) == 2:  # as most are; they need no list
                now: tuple[int, ...] = (moved[args[0]], moved[args[1]])
            else:
                now = tuple([moved[arg] for arg in args])
            kept.append(_new_tuple(Instruction, (op, now, kind, origin)))
    return Tape(
        tuple(kept),
        tuple([moved[s] for s in inputs]),
        tuple([moved[s] for s in outputs]),
    )


def shrunk(
    tape: Tape, optimize: Callable[[Tape], Tape], poll: Poll
) -> tuple[Sequence[Instruction], bytearray]:
    """The instructions, their loops without what nothing reads, and marks of those alive.

    ``optimize`` does the same, and more, for the tapes of bodies.
    """
    instructions = tape.instructions
    if Loop not in map(type, map(itemgetter(0), instructions)):
        return instructions, alive(instructions, tape.outputs, poll)
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
    return made, live


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
    marks = bytearray(len(tape.instructions))
    for slot in slots:
        marks[slot] = 1
    found: set[int] = set()
    for slot in range(len(marks) - 1, -1, -1):
        if marks[slot]:
            op, args, _, _ = tape.instructions[slot]
            if isinstance(op, Input):
                found.add(op.index)
            for arg in args:
                marks[arg] = 1
    return found


def _taking(tape: Tape, kept: Sequence[int]) -> Tape:
    """A tape of fewer inputs."""
    number = {old: new for new, old in enumerate(kept)}
    gone = {slot for i, slot in enumerate(tape.inputs) if i not in number}
    moved: dict[int, int] = {}
    made: list[Instruction] = []
    for slot, (op, args, kind, origin) in enumerate(tape.instructions):
        if slot not in gone:
            moved[slot] = len(made)
            new = Input(number[op.index]) if isinstance(op, Input) else op
            made.append(Instruction(new, tuple([moved[a] for a in args]), kind, origin))
    inputs = tuple([moved[slot] for i, slot in enumerate(tape.inputs) if i in number])
    return Tape(tuple(made), inputs, tuple([moved[slot] for slot in tape.outputs]))
