"""Walks over instructions, by their slots."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import accumulate, compress

from gradwire_engine.answer import Poll
from gradwire_engine.polling import PIECE, no_deadline, polled
from gradwire_engine.tape import Instruction, Tape

_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def ancestors(
    instructions: Sequence[Instruction],
    slots: Iterable[int],
    known: Container[int] = (),
    poll: Poll = no_deadline,
) -> set[int]:
    """``slots`` and all that they are computed from, up to what is ``known``: that is left out."""
    found: set[int] = set()
    pending = [*slots]
    while pending:
        slot = pending.pop()
        if slot not in found and slot not in known:
            found.add(slot)
            pending += instructions[slot][1]
            if not len(found) % PIECE:
                poll()
    return found


def renumbered(
    instructions: Sequence[Instruction],
    live: Sequence[int],
    inputs: Iterable[int],
    outputs: Iterable[int],
    poll: Poll = no_deadline,
) -> Tape:
    """The tape of those that are ``live``: not 0."""
    if all(live):
        return Tape(tuple(instructions), tuple(inputs), tuple(outputs))
    moved = [*accumulate(map(bool, live), initial=0)]
    made = [
        _new_tuple(
            Instruction,
            (
                op,
                (moved[args[0]], moved[args[1]])  # as most have; in half the time of a list
                if len(args) == 2
                else tuple([moved[arg] for arg in args]),
                kind,
                origin,
            ),
        )
        for op, args, kind, origin in compress(polled(instructions, poll), live)
    ]
    return Tape(tuple(made), tuple([moved[s] for s in inputs]), tuple([moved[s] for s in outputs]))


def dead_after(tape: Tape, poll: Poll = no_deadline) -> list[list[int]]:
    """The slots that nothing reads after each instruction, which may be its own; no outputs."""
    dead: list[list[int]] = [[] for _ in polled(tape.instructions, poll)]
    read = bytearray(len(dead))
    for slot in tape.outputs:
        read[slot] = 1
    slot = len(dead)
    for _, args, _, _ in polled(tape.instructions[::-1], poll):
        slot -= 1
        if not read[slot]:
            dead[slot].append(slot)
        for arg in args:
            if not read[arg]:
                read[arg] = 1
                dead[slot].append(arg)
    return dead
