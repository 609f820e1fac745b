"""Loop fission: what no carry reaches is computed for all passes at once, before the loop.

Reads by the counter, as ``x[i]``, so become one gather, and their derivative one scatter instead of
a sum over arrays.  Source: Allen and Kennedy, Optimizing Compilers for Modern Architectures (2001),
section 2.4: loop distribution.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.autodiff.retrace import BatchTrace
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.loops import BlockArgument, Loop
from gradwire_engine.ops.regions import Plan, planned, region, settled
from gradwire_engine.ops.splicing import spliced
from gradwire_engine.tape import ArrayType, Tape

#: Bytes that all passes' values may take.
_AT_ONCE_BYTES = 2**26


def parted(b: Builder, plan: Plan, arrays: Sequence[Var], length: int) -> tuple[Plan, list[Var]]:
    """The loop without what no carry reaches, and the arrays whose rows its passes read.

    Only a loop with one path, which all passes take, is parted: else what the program never does
    might be computed, and fail.
    """
    op = plan.op
    body = op.body
    found = [] if len(op.paths) > 1 else _frontier(body.tape, op.carries, op.stacks)
    kinds = [body.tape.instructions[slot].type for slot in found]
    if not found or length * sum(kind.nbytes for kind in kinds) > _AT_ONCE_BYTES:
        return plan, [*arrays]
    inputs = body.inputs[: 1 + op.carries + op.stacks]
    with region(b, ()) as opened:
        ones = [b.again(BlockArgument(opened, i), (), kind) for i, kind in enumerate(inputs)]
        values = spliced(b, _giving(body.tape, found), [*ones, *plan.shared], range(len(found)))
        numbers = b.numbers(length)
        stacks = dict(zip([ones[0], *ones[1 + op.carries :]], [numbers, *arrays], strict=True))
        every = BatchTrace(stacks)
        trace = opened.trace([every(value) for value in values])
    gathered = settled(b, trace)
    carries = inputs[1 : 1 + op.carries]
    rows = [*inputs[1 + op.carries :], *kinds]
    (path,) = op.paths
    with region(b, carries, rows) as opened:
        given = dict(zip(found, opened.items[op.stacks :], strict=True))
        again = [opened.number, *opened.carries, *opened.items[: op.stacks], *plan.shared]
        results = spliced(b, body.tape, again, path.outputs, given)
        traces = [opened.trace(results)]
    left = planned(b, traces, op.carries, len(rows), counted=True, passes=length)
    return left, [*arrays, *gathered]


def _giving(tape: Tape, slots: Sequence[int]) -> Tape:
    return Tape(tape.instructions, tape.inputs, tuple(slots))


def _frontier(tape: Tape, carries: int, stacks: int) -> list[int]:
    """The slots that no carry reaches, but what differs from pass to pass, and that others read."""
    by_pass, by_carry, looped = bytearray(), bytearray(), bytearray()
    for op, args, _, _ in tape.instructions:
        number = op.index if isinstance(op, Input) else -1
        carried = 1 <= number <= carries
        by_carry.append(carried or any(by_carry[a] for a in args))
        own = 0 <= number <= carries + stacks and not carried
        by_pass.append(own or any(by_pass[a] for a in args))
        looped.append(isinstance(op, Loop) or any(looped[a] for a in args))
    free = [
        a and not b and not c and not isinstance(i.op, Input) and isinstance(i.type, ArrayType)
        for a, b, c, i in zip(by_pass, by_carry, looped, tape.instructions, strict=True)
    ]
    read = {a for i, c in zip(tape.instructions, by_carry, strict=True) if c for a in i.args}
    return [slot for slot in sorted(read.union(tape.outputs)) if free[slot]]
