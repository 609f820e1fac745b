"""In which phase an instruction is computed: how often kernels are left for libraries before it.

Kernels have the even phases, what libraries compute the odd ones.
"""

from __future__ import annotations

from collections.abc import Collection

from gradwire_engine.answer import Poll
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.ops.loops import Loop
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Tape


def phases(tape: Tape, views: Views, inside: Collection[int], poll: Poll = unhurried) -> list[int]:
    """The phase of each slot, of which those ``inside`` are for kernels.

    It is the first that is possible, or that of what reads it if less is then read and written:
    ``1 - h²`` is computed of ``h`` where it is needed, rather than kept.
    """
    found = _earliest(tape, views, inside, poll)
    outputs = {views.bases[slot] for slot in tape.outputs}
    readers = _readers(tape, views, poll)

    def moved(slot: int, later: int) -> int:
        """Bytes that are read or written if a slot is computed later, and not otherwise."""
        total = 0
        for base in {views.bases[arg] for arg in tape.instructions[slot].args}:
            op, _, kind, _ = tape.instructions[base]
            others = {found[reader] for reader in readers[base] if reader != slot}
            if isinstance(op, Constant) or later in others:
                continue
            made = found[base] == found[slot] and not isinstance(op, Input)
            if made and others <= {found[slot]} and base not in outputs:
                total += 2 * kind.nbytes
            elif made or found[slot] in others:
                total += kind.nbytes
        return total

    for slot in polled(sorted(inside, reverse=True), poll):
        read = {found[reader] for reader in readers[slot]}
        if isinstance(tape.instructions[slot].op, Loop | Item):  # which stay together
            continue
        if slot in outputs or not read or any(phase % 2 for phase in read):
            continue
        spared = tape.instructions[slot].type.nbytes * (2 if len(read) == 1 else 1)
        if min(read) > found[slot] and moved(slot, min(read)) <= spared:
            found[slot] = min(read)
    return found


def _earliest(tape: Tape, views: Views, inside: Collection[int], poll: Poll) -> list[int]:
    """The first phases that are possible."""
    found = [0] * len(tape.instructions)
    for slot, (op, args, _, _) in enumerate(polled(tape.instructions, poll)):
        if isinstance(op, Input | Constant):
            continue
        if views.bases[slot] != slot:
            found[slot] = found[args[0]]
            continue
        phase = 0 if slot in inside else 1
        for arg in args:
            before = found[arg]
            phase = max(phase, before + (before % 2 == (slot in inside)))
        found[slot] = phase
    return found


def _readers(tape: Tape, views: Views, poll: Poll) -> list[list[int]]:
    """What reads each slot, itself or views of it."""
    readers: list[list[int]] = [[] for _ in tape.instructions]
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        if views.bases[slot] == slot:
            for base in {views.bases[arg] for arg in instruction.args}:
                readers[base].append(slot)
    return readers
