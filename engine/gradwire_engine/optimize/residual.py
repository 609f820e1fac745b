"""What is left to do on a tape when the values of its first slots are known."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.ops.constants import Constant, Guard, Input, Item
from gradwire_engine.polling import polled
from gradwire_engine.tape import Instruction, Tape


class KnownValue(NamedTuple):
    """A value that is known: a slot's, or an item of a slot that has several."""

    slot: int
    item: int | None = None


def residual_tape(tape: Tape, kept: int, poll: Poll) -> tuple[Tape, list[KnownValue]]:
    """``tape`` from slot ``kept`` on, and the values of earlier slots that it reads.

    Guards of earlier slots hold, since the values are those that they decided on.
    Its inputs are those of ``tape`` from slot ``kept`` on, then the values that it reads.
    """
    fresh = [slot for slot in tape.inputs if slot >= kept]
    later = range(kept, len(tape.instructions))
    guards = [slot for slot in polled(later, poll) if isinstance(tape.instructions[slot].op, Guard)]
    live = {*tape.outputs, *fresh, *guards}
    for slot in polled(later[::-1], poll):
        if slot in live and _known(tape, slot, kept) is None:
            live.update(tape.instructions[slot].args)
    known: list[KnownValue] = []
    moved: dict[int, int] = {}
    left: list[Instruction] = []
    order = sorted(live)
    for number, slot in enumerate(polled(order, poll)):
        op, args, kind, origin = tape.instructions[slot]
        value = _known(tape, slot, kept)
        if slot in fresh:
            op = Input(fresh.index(slot))
        elif value is not None:
            op, args = Input(len(fresh) + len(known)), ()
            known.append(value)
        moved[slot] = number
        left.append(Instruction(op, tuple([moved[a] for a in args]), kind, origin))
    read = [slot for slot in polled(order, poll) if _known(tape, slot, kept) is not None]
    inputs, outputs = ([moved[slot] for slot in s] for s in ([*fresh, *read], tape.outputs))
    return Tape(tuple(left), tuple(inputs), tuple(outputs)), known


def _known(tape: Tape, slot: int, kept: int) -> KnownValue | None:
    op, args, _, _ = tape.instructions[slot]
    if slot < kept:
        return None if isinstance(op, Constant) else KnownValue(slot)
    if isinstance(op, Item) and args[0] < kept:
        return KnownValue(args[0], op.index)
    return None
