"""What a replay will need, known before it runs: memory, arithmetic, and when values die."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Tape
from gradwire_engine.traversal import dead_after, last_readers

#: Operations between two looks at the deadline: about a millisecond's work.
_FLOPS_BETWEEN_POLLS = 1_000_000
#: And instructions, which take time of their own: a few milliseconds when they are walked.
_INSTRUCTIONS_BETWEEN_POLLS = 2048


#: Arithmetic on arrays up to this size costs nothing beside calling it.
_SMALL_BYTES = 512


class Plan(NamedTuple):
    """``dead[i]`` are the slots that nothing reads after instruction i, which may be i itself.

    ``polls`` are the slots after which to look at the deadline; ``peak_bytes`` counts the results
    that are alive at once, inputs and what kernels take beside them included, constants not.
    """

    dead: list[list[int]]
    polls: frozenset[int]
    flops: int
    peak_bytes: int


def plan(tape: Tape, poll: Poll = unhurried) -> Plan:
    """Go through the tape once."""
    instructions = tape.instructions
    last = last_readers(tape, poll)
    kinds = {*map(type, map(itemgetter(0), instructions))}
    nbytes = _sizes(instructions, kinds, poll)
    peak_bytes = _peak(instructions, kinds, nbytes, last, poll)
    return Plan(dead_after(last, poll), *_work(instructions, kinds, nbytes, poll), peak_bytes)


def _peak(
    instructions: Sequence[Instruction],
    kinds: set[type[Op]],
    nbytes: list[int],
    last: list[int],
    poll: Poll,
) -> int:
    """Most bytes alive at once: whoever replays has the inputs, and a view keeps what it is of."""
    sizes = [*nbytes]
    ends = [reader if reader >= 0 else len(last) for reader in polled(last, poll)]
    bases: dict[int, int] = {}
    alive = peak = 0
    for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
        if type(op) is Input:
            alive += sizes[slot]
            sizes[slot] = 0
        elif op.views and len(args) == 1 and kind.shape:  # type: ignore[union-attr]
            is_part = nbytes[slot] < nbytes[args[0]]
            base = bases.get(args[0], args[0])
            if is_part or base != args[0]:
                bases[slot] = base
                ends[base] = max(ends[base], ends[slot])
            if is_part:
                sizes[slot] = 0
    freed = [0] * (len(last) + 1)
    for size, end in zip(polled(sizes, poll), ends, strict=True):
        freed[end] += size
    needed = sizes
    if spaces := _workspaces(instructions, kinds, poll):
        needed = [size + spaces.get(slot, 0) for slot, size in enumerate(polled(sizes, poll))]
    for most, size, gone in zip(polled(needed, poll), sizes, freed, strict=False):
        if alive + most > peak:
            peak = alive + most
        alive += size - gone
    return peak


def _workspaces(
    instructions: Sequence[Instruction], kinds: set[type[Op]], poll: Poll
) -> dict[int, int]:
    """Bytes that kernels take beside operands and results, by slot."""
    found: dict[int, int] = {}
    if any(kind.workspace for kind in kinds):
        for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
            if op.workspace:
                given = sum([instructions[arg].type.nbytes for arg in args])
                found[slot] = int(op.workspace * max(given, kind.nbytes))
    return found


def _sizes(instructions: Sequence[Instruction], kinds: set[type[Op]], poll: Poll) -> list[int]:
    """Bytes of each result, none of constants."""
    made = polled(instructions, poll)
    types = {id(kind): kind for _, _, kind, _ in made}  # instructions share their types
    nbytes = {key: kind.nbytes for key, kind in types.items()}
    sizes = [
        0 if type(op) is Constant else nbytes[id(kind)]
        for op, _, kind, _ in polled(instructions, poll)
    ]
    if any(kind.composite for kind in kinds):
        for slot, (op, _, _, _) in enumerate(polled(instructions, poll)):
            if op.composite:
                sizes[slot] = op.nbytes
    return sizes


def _work(
    instructions: Sequence[Instruction], kinds: set[type[Op]], nbytes: list[int], poll: Poll
) -> tuple[frozenset[int], int]:
    """After which slots to look at the deadline, and all arithmetic on what is not small."""
    regularly = range(
        _INSTRUCTIONS_BETWEEN_POLLS - 1, len(instructions), _INSTRUCTIONS_BETWEEN_POLLS
    )
    large = {slot for slot, size in enumerate(polled(nbytes, poll)) if size > _SMALL_BYTES}
    if not large and not any(kind.composite for kind in kinds):
        return frozenset(regularly), 0
    polls = [*regularly]
    flops = since_poll = 0
    for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
        if slot in large or not large.isdisjoint(args) or op.composite:
            since_poll += op.flops(kind, *[instructions[a].type for a in args])  # type: ignore[arg-type]
            if since_poll > _FLOPS_BETWEEN_POLLS and not op.composite:  # these look themselves
                polls.append(slot)
                flops, since_poll = flops + since_poll, 0
    return frozenset(polls), flops + since_poll
