"""The sparsity of loops: what a pass makes depend on what, until no pass adds to it.

Carries keep the pairs that they had, so that a pattern holds for any number of passes.
Source: Griewank and Walther, Evaluating Derivatives, section 7.1, to its least fixed point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Constant

if TYPE_CHECKING:
    from gradwire_engine.autodiff.sparsity import Indices, Walk


def results(walk: Walk, op: Loop, args: Sequence[int]) -> list[Indices]:
    """The pairs of each result of a loop, of a stack those of any item."""
    tape, operands = op.body.tape, args[op.counted :]
    first = op.carries + op.stacks
    shared = dict(zip(tape.inputs[1 + first :], operands[first:], strict=True))

    def value(slot: int, constant: bool) -> Any:
        made = tape.instructions[slot].op
        if isinstance(made, Constant):
            return made.value
        return walk.value(shared[slot], constant) if slot in shared else None

    nothing = np.zeros(0, np.int64)
    given = [walk.pairs.get(arg, nothing) for arg in operands]
    made = [nothing] * (op.carries + op.written)
    made[: op.carries] = given[: op.carries]
    passes = 0
    while op.passes is None or passes < op.passes:
        body = type(walk)(walk.b, tape.instructions, walk.columns, value, walk)
        entering = [*made[: op.carries], *given[op.carries :]]
        body.pairs = {s: p for s, p in zip(tape.inputs[1:], entering, strict=True) if p.size}
        body.go(range(len(tape.instructions)), *tape.outputs)
        after = list(made)
        for path in op.paths:
            for number, output in enumerate(path.outputs):
                left = body.pairs.get(tape.outputs[output], nothing)
                after[number] = union(after[number], left)
        if all(map(np.array_equal, made, after)):
            break
        made, passes = after, passes + 1
    return [*made, *made[: op.carries], nothing, nothing]


def union(one: Indices, other: Indices) -> Indices:
    """The pairs of either."""
    return np.union1d(one, other) if one.size and other.size else one if one.size else other
