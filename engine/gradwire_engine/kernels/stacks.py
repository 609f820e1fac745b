"""Stacks whose number of items is known, as the arrays that they are."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.answer import Poll
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.loops import Loop
from gradwire_engine.ops.pointwise.arithmetic import Add
from gradwire_engine.ops.stacks import AddStacks, Rows
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import ArrayType, Instruction, StackType


def settled(instructions: Sequence[Instruction], poll: Poll = unhurried) -> list[Instruction]:
    """The same with the types of arrays where stacks have a number of items that is known."""
    made = [*instructions]
    for slot, (op, args, kind, origin) in enumerate(polled(instructions, poll)):
        if not isinstance(kind, StackType):
            continue
        given = [made[arg].type for arg in args]
        length: int | None = None
        added = op
        match op, given:
            case Rows(), [ArrayType(shape=shape)]:
                length = shape[op.axis]
            case Item(), _:
                of = made[args[0]].op
                length = of.passes if isinstance(of, Loop) and of.is_straight else None
            case AddStacks(), [ArrayType(shape=x), ArrayType(shape=y)] if x == y:
                added, length = Add(), x[0]
        if length is not None:
            item = kind.item
            array = ArrayType(item.dtype, (length, *item.shape), item.weak)
            made[slot] = Instruction(added, args, array, origin)
    return made
