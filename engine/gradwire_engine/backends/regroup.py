"""A tape whose groups of instructions are one instruction each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.ops.constants import Item
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape


def regrouped(tape: Tape, groups: Sequence[FusedGroup], poll: Poll = no_deadline) -> Tape:
    """``tape`` with each group before what reads it and after what it reads."""
    return _Writer(tape, groups, poll).written()


class _Writer:
    """The instructions written so far, and where the values of the old slots are among them."""

    def __init__(self, tape: Tape, groups: Sequence[FusedGroup], poll: Poll) -> None:
        self._tape, self._poll = tape, poll
        self._group_of = {slot: group for group in groups for slot in group.slots}
        self._made: list[Instruction] = []
        self._moved: dict[int, int] = {}

    def written(self) -> Tape:
        """Write it: views that only groups looked through are left out."""
        read = self._read()
        for slot, instruction in enumerate(polled(self._tape.instructions, self._poll)):
            if slot in read or not instruction.op.views:
                self._place(slot)
        inputs = tuple([self._moved[slot] for slot in self._tape.inputs])
        outputs = tuple([self._moved[slot] for slot in self._tape.outputs])
        return Tape(tuple(self._made), inputs, outputs)

    def _read(self) -> set[int]:
        """The slots that groups, or instructions outside them that are read, read."""
        tape, group_of = self._tape, self._group_of
        read = {*tape.outputs, *tape.inputs}
        for slot in range(len(tape.instructions) - 1, -1, -1):
            op, args, _, _ = tape.instructions[slot]
            group = group_of.get(slot)
            if group is not None:
                read.update(group.operands)
            elif slot in read or not op.views:
                read.update(args)
        return read

    def _place(self, slot: int) -> None:
        """Write what ``slot`` needs, then itself or its group, unless they are written."""
        pending = [slot]
        while pending:
            slot = pending[-1]
            group = self._group_of.get(slot)
            needed = self._tape.instructions[slot].args if group is None else group.operands
            missing = [] if slot in self._moved else [a for a in needed if a not in self._moved]
            if missing:
                pending += missing
                continue
            pending.pop()
            if slot not in self._moved:
                self._write(slot, group)

    def _write(self, slot: int, group: FusedGroup | None) -> None:
        if group is None:
            op, args, kind, origin = self._tape.instructions[slot]
            self._append(slot, Instruction(op, self._now(args), kind, origin))
            return
        at = len(self._made)
        origin = group.instructions[0].origin
        self._made.append(Instruction(group, self._now(group.operands), group.infer(), origin))
        for index, result in enumerate(group.results):
            _, _, kind, origin = self._tape.instructions[result]
            self._append(result, Instruction(Item(index), (at,), kind, origin))
        for member in group.slots:
            self._moved.setdefault(member, -1)

    def _now(self, slots: Iterable[int]) -> tuple[int, ...]:
        return tuple([self._moved[slot] for slot in slots])

    def _append(self, slot: int, instruction: Instruction) -> None:
        self._moved[slot] = len(self._made)
        self._made.append(instruction)
