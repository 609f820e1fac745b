"""Instructions on large arrays in groups that are computed together, block by block.

Between two instructions a large array travels to memory and back; a block of it stays in the
processor's cache. The results of a group that nothing else reads are never made as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.fused_kernels import FusedKernel
from gradwire_engine.backends.numpy.nesting import PART
from gradwire_engine.backends.numpy.tiling import Tiling, tile
from gradwire_engine.ops.arrays.shape import Transpose
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
    return _Writer(tape, tilings, kept, checked, threads, poll).written() if kept else tape


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


class _Writer:
    """Writes the tape anew, each group before what reads it and after what it reads."""

    def __init__(
        self,
        tape: Tape,
        tilings: dict[int, Tiling],
        groups: list[list[int]],
        checked: Sequence[int],
        threads: int,
        poll: Poll,
    ) -> None:
        self.tape = tape
        self.checked = checked
        self.threads = threads
        self.poll = poll
        self.tilings = tilings
        self.groups = groups
        self.group_of = {slot: slots for slots in groups for slot in slots}
        self.escaping = _escaping(tape, self.group_of, poll)
        self.read = {*tape.outputs}.union(*[i.args for i in tape.instructions])
        self.made: list[Instruction] = []
        self.moved: dict[int, int] = {}

    def written(self) -> Tape:
        """Write it."""
        for slot, instruction in enumerate(polled(self.tape.instructions, self.poll)):
            if slot in self.read or not isinstance(instruction.op, Transpose):
                self._place(slot)
        inputs = tuple([self.moved[slot] for slot in self.tape.inputs])
        outputs = tuple([self.moved[slot] for slot in self.tape.outputs])
        return Tape(tuple(self.made), inputs, outputs)

    def _place(self, slot: int) -> None:
        """Write what ``slot`` needs, then itself or its group, unless they are written."""
        pending = [slot]
        while pending:
            slot = pending[-1]
            missing = [] if slot in self.moved else [*self._unwritten(slot)]
            if missing:
                pending += missing
                continue
            pending.pop()
            if slot not in self.moved:
                self._write(slot)

    def _unwritten(self, slot: int) -> Iterator[int]:
        slots = self.group_of.get(slot)
        for member in slots or [slot]:
            for arg in self.tape.instructions[member].args:
                if arg not in self.moved and (slots is None or self.group_of.get(arg) is not slots):
                    yield arg

    def _write(self, slot: int) -> None:
        slots = self.group_of.get(slot)
        if slots is None:
            op, args, kind, origin = self.tape.instructions[slot]
            args = tuple([self.moved[a] for a in args])
            self._append(slot, Instruction(op, args, kind, origin))
            return
        results = [s for s in slots if s in self.escaping]
        kernel = FusedKernel(self.tape, slots, self.tilings, results, self.checked, self.threads)
        args = tuple([self.moved[a] for a in kernel.operands])
        at = len(self.made)
        origin = kernel.instructions[0].origin
        self.made.append(Instruction(kernel, args, kernel.infer(), origin))
        for index, result in enumerate(results):
            _, _, kind, origin = self.tape.instructions[result]
            self._append(result, Instruction(Item(index), (at,), kind, origin))
        for s in slots:
            self.moved.setdefault(s, -1)

    def _append(self, slot: int, instruction: Instruction) -> None:
        self.moved[slot] = len(self.made)
        self.made.append(instruction)
