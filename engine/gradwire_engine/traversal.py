"""Walks over instructions, by their slots."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import accumulate, compress

from gradwire_engine.answer import Poll
from gradwire_engine.polling import PIECE, polled, unhurried
from gradwire_engine.tape import Instruction, Tape

_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


def ancestors(
    instructions: Sequence[Instruction],
    slots: Iterable[int],
    known: Container[int] = (),
    poll: Poll = unhurried,
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
    poll: Poll = unhurried,
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


def last_readers(tape: Tape, poll: Poll = unhurried) -> list[int]:
    """The last instruction that reads each slot: itself where none does, -1 for outputs."""
    last = list(range(len(tape.instructions)))
    for slot, (_, args, _, _) in enumerate(polled(tape.instructions, poll)):
        for arg in args:
            last[arg] = slot
    for slot in tape.outputs:
        last[slot] = -1
    return last


def dead_after(last: Sequence[int], poll: Poll = unhurried) -> list[list[int]]:
    """The slots that nothing reads after each instruction, by their ``last_readers``."""
    dead: list[list[int]] = [[] for _ in polled(last, poll)]
    for slot, reader in enumerate(polled(last, poll)):
        if reader >= 0:
            dead[reader].append(slot)
    return dead
