"""A tape recorded again, on the tape under construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import Tape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def spliced(
    b: Builder,
    tape: Tape,
    inputs: Sequence[Var],
    outputs: Sequence[int],
    given: Mapping[int, Var] = MappingProxyType({}),
) -> list[Var]:
    """Record again, with ``inputs``, what some of the outputs of ``tape`` need; these.

    Slots that are ``given`` are not recorded.
    """
    slots = [tape.outputs[number] for number in outputs]
    needed = bytearray(len(tape.instructions))
    for slot in slots:
        needed[slot] = 1
    for slot in range(len(needed) - 1, -1, -1):
        if needed[slot] and slot not in given:
            for arg in tape.instructions[slot].args:
                needed[arg] = 1
    before, new = b.origin, {**given}
    for slot, (op, args, kind, origin) in enumerate(tape.instructions):
        if isinstance(op, Input):
            new[slot] = inputs[op.index]
        elif needed[slot] and slot not in given:
            b.origin = origin
            new[slot] = b.again(op, tuple([new[arg].slot for arg in args]), kind)
    b.origin = before
    return [new[slot] for slot in slots]
