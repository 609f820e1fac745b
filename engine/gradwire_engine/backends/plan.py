"""Predicts what a replay will need, before it runs: memory, arithmetic, and when values die."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Item
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape
from gradwire_engine.traversal import dead_after

#: Operations between two looks at the deadline: about a millisecond's work.
_FLOPS_BETWEEN_POLLS = 1_000_000
#: And instructions, which take time of their own: a few milliseconds when they are walked.
_INSTRUCTIONS_BETWEEN_POLLS = 2048
#: Arithmetic on arrays up to this size costs nothing beside calling it.
_SMALL_BYTES = 512
#: What is asked of the types of operations.
_VIEWS, _WORKSPACE, _COMPOSITE = map(attrgetter, ("views", "workspace", "composite"))


class Plan(NamedTuple):
    """``dead[i]`` are the slots that nothing reads after instruction i, which may be i itself.

    ``polls`` are the slots after which to look at the deadline; ``peak_bytes`` counts the results
    that are alive at once, inputs and what kernels take beside them included, constants not.
    """

    dead: list[list[int]]
    polls: frozenset[int]
    flops: int
    peak_bytes: int


def plan(tape: Tape, poll: Poll = no_deadline) -> Plan:
    """The plan of a tape."""
    instructions = tape.instructions
    kinds = {*map(type, map(itemgetter(0), polled(instructions, poll)))}
    nbytes = _sizes(instructions, kinds, poll)
    dead = dead_after(tape, poll)
    work = _work(instructions, kinds, nbytes, poll)
    return Plan(dead, *work, _peak(tape, kinds, nbytes, dead, poll))


def _peak(
    tape: Tape, kinds: set[type[Op]], nbytes: list[int], dead: list[list[int]], poll: Poll
) -> int:
    """Most bytes alive at once: whoever replays has the inputs, and a view keeps what it is of."""
    sizes, alive = [*nbytes], 0
    for slot in tape.inputs:
        alive += sizes[slot]
        sizes[slot] = 0
    views = Loop in kinds or any(map(_VIEWS, kinds))
    bases = _bases(tape, nbytes, poll) if views else {}
    #: The number of slots that keep an array: itself, and its views.
    keepers = Counter([*bases.values(), *{*bases.values()}])
    for slot in bases:
        if nbytes[slot] < nbytes[tape.instructions[slot].args[0]]:
            sizes[slot] = 0
    needed = sizes
    if Loop in kinds or any(map(_WORKSPACE, kinds)):
        needed = _with_workspaces(tape.instructions, sizes, poll)
    peak = 0
    for most, size, gone in zip(polled(needed, poll), sizes, dead, strict=True):
        if alive + most > peak:
            peak = alive + most
        alive += size
        for slot in gone:
            if slot not in keepers:
                alive -= sizes[slot]
            for kept in (slot, bases.get(slot, -1)) if bases else ():
                if kept in keepers:
                    keepers[kept] -= 1
                    alive -= 0 if keepers[kept] else sizes[kept]
    return peak


def _bases(tape: Tape, nbytes: list[int], poll: Poll) -> dict[int, int]:
    """The arrays that views are of which keep more than their own bytes.

    What a loop gives is kept together, until nothing of it is read any more.
    """
    found, made = dict[int, int](), tape.instructions
    for slot, (op, args, kind, _) in enumerate(polled(made, poll)):
        if type(op) is Item and type(made[args[0]].op) is Loop:
            found[slot] = args[0]
        elif op.views and len(args) == 1 and kind.shape:  # type: ignore[union-attr]
            (arg,) = args
            if arg in found or nbytes[slot] < nbytes[arg]:
                found[slot] = found.get(arg, arg)
    return found


def _with_workspaces(
    instructions: Sequence[Instruction], sizes: list[int], poll: Poll
) -> list[int]:
    """The bytes of results, and of what kernels and passes take beside these and operands."""
    needed = [*sizes]
    for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
        if type(op) is Loop:
            within = sum([kind.nbytes for kind in op.body.inputs])
            needed[slot] += plan(op.body.tape, poll).peak_bytes - within
        if op.workspace:
            given = sum([instructions[arg].type.nbytes for arg in args])
            needed[slot] += int(op.workspace * max(given, kind.nbytes))
    return needed


def _sizes(instructions: Sequence[Instruction], kinds: set[type[Op]], poll: Poll) -> list[int]:
    """Bytes of each result, none of constants."""
    types = [*map(itemgetter(2), polled(instructions, poll))]
    each = {kind: kind.nbytes for kind in {*types}}
    sizes = [*map(each.__getitem__, polled(types, poll))]
    others = {kind for kind in kinds if kind is Constant or kind.composite}
    if others:
        for slot, (op, _, _, _) in enumerate(polled(instructions, poll)):
            if type(op) in others:
                sizes[slot] = op.nbytes if op.composite else 0
    return sizes


def _work(
    instructions: Sequence[Instruction], kinds: set[type[Op]], nbytes: list[int], poll: Poll
) -> tuple[frozenset[int], int]:
    """After which slots to look at the deadline, and all arithmetic on what is not small."""
    regularly = range(
        _INSTRUCTIONS_BETWEEN_POLLS - 1, len(instructions), _INSTRUCTIONS_BETWEEN_POLLS
    )
    composite = any(map(_COMPOSITE, kinds))
    if not composite and max(nbytes, default=0) <= _SMALL_BYTES:
        return frozenset(regularly), 0
    large = {slot for slot, size in enumerate(polled(nbytes, poll)) if size > _SMALL_BYTES}
    polls = [*regularly]
    flops = since_poll = 0
    for slot, (op, args, kind, _) in enumerate(polled(instructions, poll)):
        if slot in large or not large.isdisjoint(args) or op.composite:
            since_poll += op.flops(kind, *[instructions[a].type for a in args])  # type: ignore[arg-type]
            if since_poll > _FLOPS_BETWEEN_POLLS and not op.composite:  # these look themselves
                polls.append(slot)
                flops, since_poll = flops + since_poll, 0
    return frozenset(polls), flops + since_poll
