"""Batching: what was recorded for one example, recorded for many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Copy, Guard


def batch(
    b: Builder,
    outputs: Sequence[Var],
    examples: Mapping[Var, Var],
    decisions: list[Var] | None = None,
) -> list[Var]:
    """``outputs`` for many examples, along a new first axis.

    ``examples`` gives for variables that ``outputs`` were recorded from the values of all examples,
    stacked along that axis.  What depends on none of these is shared, and not recorded again.
    Decisions that do depend on them have to be the same for all examples, unless ``decisions``
    takes, in place of each of them, which examples decide as recorded.
    """
    found = {one.slot: every for one, every in examples.items()}
    size = next(iter(found.values())).shape[0]
    before = b.origin
    for slot in _needed(b, outputs, min(found)):
        op, args, _, origin = b.instructions[slot]
        own = [arg in found for arg in args]
        if any(own) and slot not in found:
            b.origin = origin
            operands = [found.get(arg) or b.vars[arg] for arg in args]
            if decisions is not None and isinstance(op, Guard):
                decisions.append(op.holds(*operands))
                b.instructions[slot] = b.instructions[slot]._replace(op=Copy())  # binds no more
            else:
                found[slot] = op.batch(operands, own)
    b.origin = before
    return [found.get(out.slot) or b.broadcast(out, (size, *out.shape)) for out in outputs]


def _needed(b: Builder, outputs: Sequence[Var], first: int) -> list[int]:
    """The slots from ``first`` that outputs and guards are computed from, rising."""
    wanted = {out.slot for out in outputs}
    slots = []
    for slot in range(len(b.vars) - 1, first - 1, -1):
        op, args, _, _ = b.instructions[slot]
        if slot in wanted or isinstance(op, Guard):
            wanted.update(args)
            slots.append(slot)
    return slots[::-1]
