"""What a replay will need, known before it runs: memory, arithmetic, and when values die."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.loops import Loop
from gradwire_engine.tape import Tape

#: Operations between two looks at the deadline: about a millisecond's work.
_FLOPS_BETWEEN_POLLS = 1_000_000


#: Arithmetic on arrays up to this size costs nothing beside calling it.
_SMALL_BYTES = 512


class Plan(NamedTuple):
    """``dead[i]`` are the slots that nothing reads after instruction i, which may be i itself.

    ``polls`` are the slots after which to look at the deadline; ``peak_bytes`` counts the results
    that are alive at once, inputs included, constants not.
    """

    dead: list[list[int]]
    polls: frozenset[int]
    flops: int
    peak_bytes: int


def plan(tape: Tape) -> Plan:
    """Go through the tape once."""
    instructions = tape.instructions
    last = list(range(len(instructions)))
    dead: list[list[int]] = [[] for _ in instructions]
    for slot, instruction in enumerate(instructions):
        for arg in instruction.args:
            last[arg] = slot
    for slot in tape.outputs:
        last[slot] = -1
    for slot, reader in enumerate(last):
        if reader >= 0:
            dead[reader].append(slot)
    polls: list[int] = []
    flops = since_poll = alive_bytes = peak_bytes = 0
    sizes: dict[int, int] = {}  # by identity: instructions share their types
    nbytes: list[int] = []
    for slot, (op, args, kind, _) in enumerate(instructions):
        size = sizes.get(id(kind))
        if isinstance(op, Loop):
            size = op.nbytes
        elif size is None:
            size = sizes[id(kind)] = kind.nbytes
        nbytes.append(0 if isinstance(op, Constant) else size)
        alive_bytes += nbytes[slot]
        if alive_bytes > peak_bytes:
            peak_bytes = alive_bytes
        for gone in dead[slot]:
            alive_bytes -= nbytes[gone]
        if isinstance(op, Loop):
            since_poll += op.flops(kind)
        elif size > _SMALL_BYTES or any(nbytes[a] > _SMALL_BYTES for a in args):
            since_poll += op.flops(kind, *[instructions[a].type for a in args])  # type: ignore[arg-type]
            if since_poll > _FLOPS_BETWEEN_POLLS:
                polls.append(slot)
                flops, since_poll = flops + since_poll, 0
    return Plan(dead, frozenset(polls), flops + since_poll, peak_bytes)
