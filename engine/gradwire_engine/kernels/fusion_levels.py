"""Fusion levels of instructions: how often kernels are left for libraries before one is computed.

Kernels have the even levels, what libraries compute the odd ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from gradwire_engine.answer import Poll
from gradwire_engine.kernels.views import Views
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Tape


def fusion_levels(
    tape: Tape, views: Views, inside: Collection[int], poll: Poll = no_deadline
) -> list[int]:
    """The level of each slot, of which those ``inside`` are for kernels.

    It is the first that is possible, or that of what reads it if less is then read and written:
    ``1 - h²`` is computed of ``h`` where it is needed, rather than kept.
    """
    found = _earliest(tape, views, inside, poll)
    outputs = {views.bases[slot] for slot in tape.outputs}
    reads = _reads(tape, views, found, poll)

    def moved(slot: int, later: int) -> int:
        """Bytes that are read or written if a slot is computed later, and not otherwise."""
        total, now = 0, found[slot]
        for base in _operands(tape, views, slot):
            op, _, kind, _ = tape.instructions[base]
            if isinstance(op, Constant) or later in reads[base]:
                continue
            made = found[base] == now and not isinstance(op, Input)
            if made and len(reads[base]) == 1 and base not in outputs:
                total += 2 * kind.nbytes  # it would not be kept
            elif made or reads[base][now] > 1:
                total += kind.nbytes
        return total

    for slot in polled(sorted(inside, reverse=True), poll):
        if isinstance(tape.instructions[slot].op, Loop | Item):  # which stay together
            continue
        read, now = reads[slot], found[slot]
        if slot in outputs or not read or any(level % 2 for level in read):
            continue
        later = min(read)
        spared = tape.instructions[slot].type.nbytes * (2 if len(read) == 1 else 1)
        if later > now and moved(slot, later) <= spared:
            found[slot] = later
            for base in _operands(tape, views, slot):
                reads[base][later] += 1
                reads[base][now] -= 1
                if not reads[base][now]:
                    del reads[base][now]
    return found


def _earliest(tape: Tape, views: Views, inside: Collection[int], poll: Poll) -> list[int]:
    """The first levels that are possible."""
    found = [0] * len(tape.instructions)
    for slot, (op, args, _, _) in enumerate(polled(tape.instructions, poll)):
        if isinstance(op, Input | Constant):
            continue
        if views.bases[slot] != slot:
            found[slot] = found[args[0]]
            continue
        level = 0 if slot in inside else 1
        for arg in args:
            before = found[arg]
            level = max(level, before + (before % 2 == (slot in inside)))
        found[slot] = level
    return found


def _reads(tape: Tape, views: Views, found: Sequence[int], poll: Poll) -> list[Counter[int]]:
    """The number of instructions of each level that read a slot, itself or views of it."""
    reads: list[Counter[int]] = [Counter() for _ in tape.instructions]
    for slot in polled(range(len(tape.instructions)), poll):
        if views.bases[slot] == slot:
            for base in _operands(tape, views, slot):
                reads[base][found[slot]] += 1
    return reads


def _operands(tape: Tape, views: Views, slot: int) -> set[int]:
    """The slots that one reads, itself or views of them."""
    return {views.bases[arg] for arg in tape.instructions[slot].args}
