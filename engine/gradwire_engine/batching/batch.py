"""Batching: what was recorded for one example, recorded for many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.batching.retrace import BatchTrace
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
    every, before = BatchTrace(examples), b.origin
    for slot in range(min(one.slot for one in examples), len(b.vars)):
        op, args, _, origin = b.instructions[slot]
        if isinstance(op, Guard) and (operand := every.find(b.vars[args[0]])):
            b.origin = origin
            if decisions is None:
                op.batch([operand], [True])
            else:
                decisions.append(op.as_expected(operand))
                b.instructions[slot] = b.instructions[slot]._replace(op=Copy())  # binds no more
    b.origin = before
    return [every(out) for out in outputs]
