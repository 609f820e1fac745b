"""The residual of a tape: what is left to compute when the values of its first slots are known."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.ops.constants import Constant, Guard, Input, Item
from gradwire_engine.polling import polled
from gradwire_engine.tape import Tape
from gradwire_engine.traversal import renumbered


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
    known = {slot: _known(tape, slot, kept) for slot in polled(sorted(live), poll)}
    read = [slot for slot, value in known.items() if value is not None]
    made = list(tape.instructions)
    for number, slot in enumerate((*fresh, *read)):
        made[slot] = made[slot]._replace(op=Input(number), args=())
    wanted = [slot in live for slot in polled(range(len(made)), poll)]
    values = [value for value in known.values() if value is not None]
    return renumbered(made, wanted, (*fresh, *read), tape.outputs, poll), values


def _known(tape: Tape, slot: int, kept: int) -> KnownValue | None:
    op, args, _, _ = tape.instructions[slot]
    if slot < kept:
        return None if isinstance(op, Constant) else KnownValue(slot)
    if isinstance(op, Item) and args[0] < kept:
        return KnownValue(args[0], op.index)
    return None
