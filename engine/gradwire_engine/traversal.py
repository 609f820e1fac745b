"""Walks over instructions, by their slots."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from gradwire_engine.answer import Poll
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Tape


def ancestors(
    instructions: Sequence[Instruction], slots: Iterable[int], known: Container[int] = ()
) -> set[int]:
    """``slots`` and all that they are computed from, up to what is ``known``: that is left out."""
    found: set[int] = set()
    pending = [*slots]
    while pending:
        slot = pending.pop()
        if slot not in found and slot not in known:
            found.add(slot)
            pending.extend(instructions[slot].args)
    return found


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
