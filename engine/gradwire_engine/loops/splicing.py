"""A tape recorded again, on the tape under construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import Tape
from gradwire_engine.traversal import ancestors

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
    needed = ancestors(tape.instructions, slots, given)
    before, new = b.origin, {**given}
    for slot, (op, args, kind, origin) in enumerate(tape.instructions):
        if isinstance(op, Input):
            new[slot] = inputs[op.index]
        elif slot in needed:
            b.origin = origin
            new[slot] = b.again(op, tuple([new[arg].slot for arg in args]), kind)
    b.origin = before
    return [new[slot] for slot in slots]
