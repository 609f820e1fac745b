"""Instructions on large arrays in groups that are computed together, block by block.

Between two instructions a large array travels to memory and back; a block of it stays in the
processor's cache. The results of a group that nothing else reads are never made as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.fused_kernels import FusedKernel
from gradwire_engine.backends.numpy.nesting import PART
from gradwire_engine.backends.numpy.tiling import Tiling, tile
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.ops.constants import Item
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Shape, Tape

#: Groups whose arrays are all smaller are left alone: calling takes longer than moving them.
SMALLEST_BYTES = 1 << 16
#: Fewest results that need not be made as a whole for which a group pays where the cache holds all
#: of it, and what that is.
FEWEST_SPARED, CACHE_BYTES = 6, 1 << 21
#: The key of what is computed by rows, and how many groups must have come before.
_Group: TypeAlias = tuple[Shape, int]


def fuse(tape: Tape, poll: Poll = unhurried, threads: int = 1, *, returned: bool = True) -> Tape:
    """An equivalent tape in which each group is one instruction, for as many threads.

    If its outputs are ``returned``, it is told of them whether they are finite.
    """
    if not any(i.type.nbytes >= SMALLEST_BYTES for i in polled(tape.instructions, poll)):
        return tape
    tilings, groups = _levels(tape.instructions, poll)
    kept = _paying(tape, [*groups.values()], poll)
    checked = tape.outputs if returned else ()
    if not kept:
        return tape
    escaping = _escaping(tape, {slot: slots for slots in kept for slot in slots}, poll)
    kernels = [
        FusedKernel(tape, slots, tilings, [s for s in slots if s in escaping], checked, threads)
        for slots in kept
    ]
    return regrouped(tape, kernels, poll)


def _levels(
    instructions: Sequence[Instruction], poll: Poll
) -> tuple[dict[int, Tiling], dict[_Group, list[int]]]:
    """How instructions are cut, and the slots of each group.

    The level of an instruction is that of its operands, or one more where it needs all of what a
    group computes by rows: so groups of one level do not wait for each other.
    """
    tilings: dict[int, Tiling] = {}
    levels = [0] * len(instructions)
    groups: dict[_Group, list[int]] = {}
    for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
        found = _item(op, args, tilings)
        if found is None:
            found = tile(op, kind, [instructions[a].type for a in args])
        level = 0
        for number, arg in enumerate(args):
            of = tilings.get(arg)
            along = of is not None and found is not None and found.rows[number]
            joins = along and of.key == found.key and not of.joined  # type: ignore[union-attr]
            level = max(level, levels[arg] + (of is not None and not joins))
        levels[slot] = level
        if found is not None:
            tilings[slot] = found
            groups.setdefault((found.key, level), []).append(slot)
    return tilings, groups


def _item(op: object, args: Sequence[int], tilings: dict[int, Tiling]) -> Tiling | None:
    """One of the results of what is cut."""
    of = tilings.get(args[0]) if isinstance(op, Item) else None
    return of and Tiling(of.key, (True,))


def _paying(tape: Tape, groups: Sequence[list[int]], poll: Poll) -> list[list[int]]:
    """The groups that save enough."""
    escaping = _escaping(tape, {slot: slots for slots in groups for slot in slots}, poll)
    kept: list[list[int]] = []
    for slots in polled(groups, poll):
        if len(slots) > PART:
            continue
        sizes = {slot: tape.instructions[slot].type.nbytes for slot in slots}
        large = [slot for slot in slots if sizes[slot] >= SMALLEST_BYTES]
        spared = sum([slot not in escaping for slot in large])
        if spared >= (1 if sum(sizes.values()) > CACHE_BYTES else FEWEST_SPARED):
            kept.append(slots)
    return kept


def _escaping(tape: Tape, group_of: Mapping[int, list[int]], poll: Poll) -> set[int]:
    """What is read outside of its group."""
    found = {*tape.outputs}
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        mine = group_of.get(slot)
        found.update([a for a in instruction.args if group_of.get(a) is not mine])
    return found
