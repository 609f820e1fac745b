"""The computations in the passes of a loop, of which kernels are made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from gradwire_engine.kernels.stacks import densified
from gradwire_engine.kernels.views import Views
from gradwire_engine.loops.loop import Loop, Path
from gradwire_engine.ops.constants import Constant, Copy, Input, Item
from gradwire_engine.tape import ArrayType, Instruction
from gradwire_engine.traversal import ancestors

#: A path, with its number.
Numbered: TypeAlias = tuple[int, Path]


class LoopBody:
    """The instructions of a body, and copies of what passes leave, which are put somewhere.

    Of the loop's ``results`` that are stacks these alone are kept; None for all.
    """

    def __init__(self, op: Loop, results: Collection[int] | None = None) -> None:
        tape = op.body.tape
        self.instructions = densified(tape.instructions)
        #: The numbers of inputs, by their slots.
        self.inputs: dict[int, int] = {slot: number for number, slot in enumerate(tape.inputs)}
        #: Copies by the path and the number of the result, a new carry having that of the carry;
        #: and the latter by their slots.
        self.copies: dict[int, dict[int, int]] = {}
        self.number_of: dict[int, int] = {}
        #: Copies of what decides, by its number among the outputs.
        self.decisions: dict[int, int] = {}
        self._begins = tape.inputs[1 : 1 + op.carries]
        paths = [(n, path) for n, path in enumerate(op.paths) if path.known]
        decided = {number for _, path in paths for number, _ in path.decisions}
        counted = [path for _, path in paths if path.counted]
        ends = [[tape.outputs[output] for output in path.outputs] for path in counted]
        #: The carries that something is computed from.
        self.carries = _carried(op, self._begins, ends, [tape.outputs[d] for d in decided])
        for number in sorted(decided):
            self.decisions[number] = self._copied(tape.outputs[number])
        for number, path in paths:
            copies = self.copies[number] = {}
            if not path.counted:
                continue
            left = [tape.outputs[output] for output in path.outputs]
            for c in self.carries:
                copies[c] = self._copied(left[c])
                if results is None or op.saved(c) in results:
                    copies[op.saved(c)] = self._copied(self._begins[c])
            for w, slot in enumerate(left[op.carries :]):
                if op.wants(op.output(w)) and (results is None or op.output(w) in results):
                    copies[op.output(w)] = self._copied(slot)
            self.number_of |= {slot: result for result, slot in copies.items()}
        self.views = Views(self.instructions)
        made = self.instructions
        self._given = {s for s, i in enumerate(made) if isinstance(i.op, Input | Constant)}
        #: The results of loops within, by these.
        self._items: dict[int, list[int]] = {}
        #: All slots that are computed.
        self.slots = self.needed([*self.number_of, *self.decisions.values()], frozenset())
        for slot in self.slots:
            if isinstance(made[slot].op, Item):
                self._items.setdefault(made[slot].args[0], []).append(slot)

    def needed(self, slots: Iterable[int], known: AbstractSet[int]) -> list[int]:
        """The values from which these are computed, beside what is known.

        With a loop within come all its results: they are stored where it is.
        """
        found = ancestors(self.instructions, slots, self._given | known)
        found.update(
            [item for loop, items in self._items.items() if loop in found for item in items]
        )
        return sorted([slot for slot in found if self.views.bases[slot] == slot])

    def shared(self, computed: Sequence[int]) -> list[int]:
        """Those that others read, too, which are computed where ways have parted."""
        if not self.decisions:
            return []
        within, bases = {*computed}, self.views.bases
        others = [slot for slot in self.slots if slot not in within]
        read = {bases[x] for slot in others for x in self.instructions[slot].args}
        return sorted(read & within)

    def kind(self, slot: int) -> ArrayType:
        """The type of a slot."""
        kind = self.instructions[slot].type
        assert isinstance(kind, ArrayType)
        return kind

    def carry(self, number: int) -> ArrayType:
        """The type of a carry."""
        return self.kind(self._begins[number])

    def _copied(self, slot: int) -> int:
        _, _, kind, origin = self.instructions[slot]
        self.instructions.append(Instruction(Copy(), (slot,), kind, origin))
        return len(self.instructions) - 1


def _carried(
    op: Loop, begins: Sequence[int], ends: Sequence[Sequence[int]], decided: Iterable[int]
) -> list[int]:
    """The carries that something is computed from: results that are wanted, or others of these."""
    made = op.body.tape.instructions
    needed = {c for c in range(op.carries) if op.wants(c) or op.wants(op.saved(c))}
    kept = [*decided]
    for left in ends:
        kept += [s for w, s in enumerate(left[op.carries :]) if op.wants(op.output(w))]
    while True:
        read = ancestors(made, [*kept, *[left[c] for left in ends for c in needed]])
        more = needed | {c for c in range(op.carries) if begins[c] in read}
        if more == needed:
            return sorted(needed)
        needed = more
