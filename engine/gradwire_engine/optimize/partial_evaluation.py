"""Partial evaluation: of a tape some values are known, and the *residual* tape computes the rest.

Where resident inputs are the same arrays as before, a *static* tape computes once what depends on
them and constants alone. Of a recording the values of all slots are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import Reshape, View
from gradwire_engine.ops.constants import Constant, Guard, Identity, Input, Item
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.ops.pointwise.complex import Part
from gradwire_engine.optimize.costs import Costs
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, Instruction, Tape
from gradwire_engine.traversal import ancestors, renumbered


class Stages(NamedTuple):
    """A tape in two: the ``residual`` one takes the inputs, then what the ``static`` one gives.

    Either reads only some of the inputs, by their numbers in the whole tape; ``kept_bytes`` is how
    much the static one gives.
    """

    static: Tape
    residual: Tape
    kept_bytes: int


def stands(instruction: Instruction, standing: bytearray, residents: Set[int]) -> bool:
    """True if a value depends on ``residents`` and constants alone, as what it is computed of does.

    ``standing`` marks those of the slots before it of which that holds.
    """
    op, args, _, _ = instruction
    if isinstance(op, Input):
        return op.index in residents
    return all(standing[arg] for arg in args)


def stages(
    tape: Tape, residents: Set[int], most_bytes: int, costs: Costs, poll: Poll = no_deadline
) -> Stages | None:
    """Split an optimised tape, if that spares replays anything; up to ``most_bytes`` are kept.

    Guards of what stands are the static tape's: for the same arrays they hold again, or fail again.
    """
    split = _Split(tape, residents, most_bytes, costs, poll)
    return split.stages() if split.spares else None


class _Split:
    """The slots that are kept, and which of those that stand the residual computes all the same."""

    def __init__(
        self, tape: Tape, residents: Set[int], most_bytes: int, costs: Costs, poll: Poll
    ) -> None:
        self._tape = tape
        self._recomputed_bytes = costs.recomputed_bytes
        self._poll = poll
        self._made = made = tape.instructions
        self._standing = bytearray()
        for instruction in polled(made, poll):
            self._standing.append(stands(instruction, self._standing, residents))
        #: The slots that the residual reads, at first because they depend on more.
        self._needed = bytearray(len(made))
        for slot in tape.outputs:
            self._needed[slot] = 1
        for slot, (_, args, _, _) in enumerate(polled(made, poll)):
            if not self._standing[slot]:
                self._need(args)
        #: The guards that stand.
        self._guards = [
            slot
            for slot, instruction in enumerate(polled(made, poll))
            if self._standing[slot] and isinstance(instruction.op, Guard)
        ]
        #: The results of the static tape, in order.
        self.kept: list[int] = []
        self.kept_bytes = 0
        self._choose(most_bytes)

    def _need(self, args: tuple[int, ...]) -> None:
        for arg in args:
            self._needed[arg] = 1

    def _choose(self, most_bytes: int) -> None:
        """The latest first, in which most work is: what is not kept needs its operands."""
        for slot in polled(range(len(self._made) - 1, -1, -1), self._poll):
            op, args, kind, _ = self._made[slot]
            if not (self._needed[slot] and self._standing[slot]) or isinstance(op, Input):
                continue
            fits = self.kept_bytes + kind.nbytes <= most_bytes
            if fits and isinstance(kind, ArrayType) and not self._is_trivial(slot):
                self.kept.append(slot)
                self.kept_bytes += kind.nbytes
            else:
                self._need(args)
        self.kept.reverse()

    def _is_trivial(self, slot: int) -> bool:
        """True if keeping a value spares next to nothing for the memory that it takes."""
        op, args, kind, _ = self._made[slot]
        if isinstance(op, Constant) or self._is_view(slot):
            return True
        if not op.elementwise or kind.nbytes < self._recomputed_bytes:
            return False
        types = [self._made[arg].type for arg in args]
        grows = all(2 * of.nbytes <= kind.nbytes for of in types)
        return grows and op.flops(kind, *types) <= kind.size  # type: ignore[arg-type, union-attr]

    def _is_view(self, slot: int) -> bool:
        """True if a value is its operand's memory: to keep it would be to keep that."""
        op, args, kind, _ = self._made[slot]
        if isinstance(op, Reshape):  # of what is not in order it is a copy
            return isinstance(self._made[args[0]].op, Reshape) or not self._is_view(args[0])
        if isinstance(op, GetItem):
            return ARRAY not in op.pattern and bool(kind.shape)  # type: ignore[union-attr]
        return isinstance(op, View | Identity | Part)

    @property
    def spares(self) -> bool:
        """True if the residual computes less than the whole: some is kept, or guards are gone."""
        return bool(self.kept or self._guards)

    def stages(self) -> Stages:
        """Both tapes."""
        tape, poll = self._tape, self._poll
        begun = ancestors(self._made, (*self.kept, *self._guards), (), poll)
        once = [slot in begun for slot in polled(range(len(self._made)), poll)]
        both = zip(self._needed, self._standing, strict=True)
        left = [needed or not standing for needed, standing in both]
        given = {slot: number for number, slot in enumerate(self.kept, len(tape.inputs))}
        static = _tape_of(tape, once, {}, self.kept, poll)
        return Stages(static, _tape_of(tape, left, given, tape.outputs, poll), self.kept_bytes)


class KnownValue(NamedTuple):
    """A value that is known: a slot's, or an item of a slot that has several."""

    slot: int
    item: int | None = None


def residual_tape(tape: Tape, kept: int, poll: Poll) -> tuple[Tape, list[KnownValue]]:
    """``tape`` from slot ``kept`` on, and the values of earlier slots that it reads.

    Guards of earlier slots hold, since the values are those that they decided on.
    Its inputs are those of ``tape`` from slot ``kept`` on, then the values that it reads.
    """
    made, fresh = tape.instructions, [slot for slot in tape.inputs if slot >= kept]
    live = {*tape.outputs, *fresh}
    known: dict[int, KnownValue] = {}
    for slot in polled(range(len(made) - 1, -1, -1), poll):
        if slot in live or (slot >= kept and isinstance(made[slot].op, Guard)):
            value = _known(tape, slot, kept)
            if value is None:
                live.update((slot, *made[slot].args))
            else:
                known[slot] = value
    wanted = [slot in live for slot in polled(range(len(made)), poll)]
    given = {slot: number for number, slot in enumerate((*fresh, *known))}
    return _tape_of(tape, wanted, given, tape.outputs, poll), [*known.values()]


def _known(tape: Tape, slot: int, kept: int) -> KnownValue | None:
    op, args, _, _ = tape.instructions[slot]
    if slot < kept:
        return None if isinstance(op, Constant) else KnownValue(slot)
    if isinstance(op, Item) and args[0] < kept:
        return KnownValue(args[0], op.index)
    return None


def _tape_of(
    tape: Tape, wanted: Sequence[int], given: Mapping[int, int], outputs: Sequence[int], poll: Poll
) -> Tape:
    """The ``wanted`` instructions; what is ``given`` are inputs of these numbers."""
    made = list(tape.instructions)
    for slot, number in given.items():
        made[slot] = made[slot]._replace(op=Input(number), args=())
    read = enumerate(polled(made, poll))
    inputs = {i.op.index: slot for slot, i in read if wanted[slot] and isinstance(i.op, Input)}
    return renumbered(made, wanted, [inputs[n] for n in sorted(inputs)], outputs, poll)
