"""Dependence of a loop's results on one another, through its last passes.

Recorded as one instruction, a loop gives results side by side, and no path leads from one of them
to another. Recorded pass by pass it does, from a value that the last pass made, or kept, to what
was computed from it. A derivative that asks for such a path needs the passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import Rows, Stacked
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.constants import Item
from gradwire_engine.tape import Instruction
from gradwire_engine.traversal import ancestors

#: Pairs of results of a loop, of which the second depends on the first.
_Pairs = set[tuple[int, int]]
#: In the place of the second: what is computed outside of the loop.
_OUTSIDE = -1


def within_passes(made: Sequence[Instruction], source: int, targets: Iterable[int]) -> bool:
    """True if a path leads from the ``source``, which a loop leaves, through its last passes.

    Or from a row of what its passes wrote: what is computed from all rows is not from this one.
    """
    found = _left(made, source)
    if found is None:
        row = made[source]
        rows = row.args[0] if type(row.op) is GetItem else source
        written = type(made[rows].op) is Stacked and rows != source
        return written and rows in ancestors(made, targets, (source,))
    whole, loop, number = found
    reached = ancestors(made, targets, (whole,))
    results = [made[slot].op for slot in reached if made[slot].args == (whole,)]
    beside = {op.index for op in results if isinstance(op, Item)} - {number}
    if any(loop.saved(0) <= t < loop.branches for t in beside):
        return True  # a derivative, which may be of any pass
    starts = _starts(made, whole, loop)
    before = {(c, _OUTSIDE) for c, start in enumerate(starts) if _leads(made, start, reached)}
    if not beside and not before:
        return False
    for t, start in enumerate(starts):
        behind = ancestors(made, [start])
        before |= {(c, t) for c, s in enumerate(starts) if c != t and _leads(made, s, behind)}
    entering = _entering(made, whole, loop)
    pairs = _after(made, loop, entering, before)
    while not (more := _after(made, loop, entering, pairs)) <= pairs:
        pairs |= more
    return any((number, t) in pairs for t in [*beside, _OUTSIDE])


def _after(
    around: Sequence[Instruction], loop: Loop, entering: Mapping[int, int], before: _Pairs
) -> _Pairs:
    """The pairs after a pass, for those before it; ``entering`` are slots of ``around``."""
    made, stand_ins, found = loop.body.tape.instructions, _stand_ins(loop), _Pairs()
    for outputs in _outputs(loop):
        reached = [ancestors(made, [slot]) for slot in outputs]
        outside = [ancestors(around, [entering[a] for a in r if a in entering]) for r in reached]
        for c, slot in enumerate(outputs[: loop.carries]):
            kept = {stand_ins[a] for a in _held(made, slot) if a in stand_ins}
            follows = {t for k, t in before if k in kept}
            # what went outside, or was written, is there for good
            found |= {(c, t) for t in follows if t not in range(loop.carries)}
            for t, behind in enumerate(reached):
                began = {stand_ins[a] for a in behind if a in stand_ins}
                led = began & (kept | follows) or entering.get(slot) in outside[t]
                if t != c and (led or _leads(made, slot, behind)):
                    found.add((c, t))
    return found


def _held(made: Sequence[Instruction], slot: int) -> set[int]:
    """The slots whose value may be that at ``slot``, itself included: loops keep what enters."""
    held, left = {slot}, _left(made, slot)
    if left is not None:
        whole, loop, number = left
        stand_ins, starts = _stand_ins(loop), _starts(made, whole, loop)
        entered, pending = set[int](), [number]
        while pending:
            c = pending.pop()
            for outputs in _outputs(loop):
                within = _held(loop.body.tape.instructions, outputs[c])
                kept = {stand_ins[a] for a in within if a in stand_ins} - entered
                entered |= kept
                pending += kept
        for c in entered:
            held |= _held(made, starts[c])
    return held


def _leads(made: Sequence[Instruction], slot: int, behind: set[int]) -> bool:
    """True if what ``behind`` was made of is the value at ``slot``, or depends on it."""
    return slot in behind or within_passes(made, slot, behind)


def _left(made: Sequence[Instruction], slot: int) -> tuple[int, Loop, int] | None:
    """The loop that leaves a carry at ``slot``, where it is, and the number of the carry."""
    op, args, _, _ = made[slot]
    loop = made[args[0]].op if isinstance(op, Item) else None
    if isinstance(op, Item) and isinstance(loop, Loop) and op.index < loop.carries:
        return args[0], loop, op.index
    return None


def _starts(made: Sequence[Instruction], whole: int, loop: Loop) -> Sequence[int]:
    return made[whole].args[loop.counted : loop.counted + loop.carries]


def _entering(made: Sequence[Instruction], whole: int, loop: Loop) -> dict[int, int]:
    """The slots outside of what enters passes but carries, by the slots in the body.

    What no carry reaches was computed before the loop, one from the other.
    """
    operands = made[whole].args[loop.counted + loop.carries :]
    arrays = [made[a].args[0] if isinstance(made[a].op, Rows) else a for a in operands]
    return dict(zip(loop.body.tape.inputs[1 + loop.carries :], arrays, strict=True))


def _stand_ins(loop: Loop) -> dict[int, int]:
    """The numbers of the carries, by the slots in the body that stand for them."""
    return {slot: c for c, slot in enumerate(loop.body.tape.inputs[1 : 1 + loop.carries])}


def _outputs(loop: Loop) -> list[list[int]]:
    """The slots of what each path leaves that makes a pass."""
    paths = [path.outputs for path in loop.paths if path.known and path.counted]
    return [[loop.body.tape.outputs[number] for number in numbers] for numbers in paths]
