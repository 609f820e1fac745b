"""Stacks whose number of items is known, as the arrays that they are."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.answer import Poll
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import AddStacks, Rows
from gradwire_engine.ops.constants import Constant, Item
from gradwire_engine.ops.conversion import Rounded
from gradwire_engine.ops.pointwise.arithmetic import Add
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, Instruction, StackType


def passes_of(made: Sequence[Instruction], slot: int) -> int | None:
    """The number of passes of the loop at ``slot``, if that is known: no path ends it earlier."""
    op, args, _, _ = made[slot]
    assert isinstance(op, Loop)
    if not op.counted or any(path.ends for path in op.paths):
        return None
    count, given, _, _ = made[args[0]]
    if isinstance(count, Constant):
        return int(count.value)
    if isinstance(count, Item):  # of a loop that this one goes through backward
        of = made[given[0]].op
        if isinstance(of, Loop) and count.index == of.trip_count:
            return passes_of(made, given[0])
    return None


def densified(instructions: Sequence[Instruction], poll: Poll = no_deadline) -> list[Instruction]:
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
                is_loop = isinstance(made[args[0]].op, Loop)
                length = passes_of(made, args[0]) if is_loop else None
            case AddStacks(), [ArrayType(shape=x), ArrayType(shape=y)] if x == y:
                added, length = Add(), x[0]
            case Rounded(), [ArrayType(shape=shape)]:
                length = shape[0]
        if length is not None:
            item = kind.item
            array = ArrayType(item.dtype, (length, *item.shape), item.weak)
            made[slot] = Instruction(added, args, array, origin)
    return made
