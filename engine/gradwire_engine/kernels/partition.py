"""Decides which instructions of a tape become kernels.

An instruction that a kernel can compute is in the kernel of its *fusion level*: the number of times
that one has to leave kernels for what libraries compute, and come back, before it can be computed,
or a later one. So no kernel waits for what waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.kernels.fusion_levels import fusion_levels
from gradwire_engine.kernels.scope import MOST_INSTRUCTIONS, is_kernel, is_lone_loop, is_loop
from gradwire_engine.kernels.stacks import densified
from gradwire_engine.kernels.views import Views
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.arrays.indexing import ScatterAdd, SetItem
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.ops.linalg.solving import OfSquare
from gradwire_engine.ops.sequences.cumulative import LinearRecurrence
from gradwire_engine.ops.sequences.running import RunningPlace
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape, Type

#: Work for an element from which on an instruction by itself is worth a kernel.
_LONG = 8
#: The number of instructions that one of small matrices counts for.
_NESTS_OF_MATRIX = 10


class Part(NamedTuple):
    """The instructions of a kernel, and those of them that others read."""

    slots: Sequence[int]
    results: Sequence[int]


class Partition(NamedTuple):
    """The ``parts`` of a tape that are worth a kernel, in an order in which they can be computed.

    In ``dense`` stacks of a known length are the arrays that they are.
    """

    tape: Tape
    dense: Sequence[Instruction]
    views: Views
    parts: Sequence[Part]


def partition(
    tape: Tape,
    poll: Poll = no_deadline,
    takes: Callable[[Op, Type, Sequence[Type]], bool] = is_kernel,
    *,
    on_device: bool = False,
) -> Partition:
    """Divide a tape into kernels.

    ``takes`` says which instructions a kernel of the backend's can compute, beside loops. A
    device is better at kernels than at anything else: a single instruction is one, too, but not a
    loop whose passes are not known before it is launched.
    """
    dense = replace(tape, instructions=tuple(densified(tape.instructions, poll)))
    made, outputs = dense.instructions, {*tape.outputs}
    views = Views(made, poll)
    inside: list[int] = []
    #: The loops in kernels with others, and those that are by themselves with their results.
    taken: set[int] = set()
    alone: dict[int, list[int]] = {}
    for slot, (op, args, kind, _) in enumerate(polled(made, poll)):
        if isinstance(op, Input | Constant) or views.bases[slot] != slot:
            continue
        if isinstance(op, Item):
            if args[0] in alone:
                alone[args[0]].append(slot)
            elif args[0] in taken:
                inside.append(slot)
        elif isinstance(op, Loop):
            if slot in outputs:  # which are each of its results by itself else
                continue
            if is_loop(made, views, slot, on_device=on_device):
                taken.add(slot)
                inside.append(slot)
            elif not on_device and is_lone_loop(made, views, slot):
                alone[slot] = [slot]
        elif takes(op, kind, [made[a].type for a in args]):
            inside.append(slot)
    level_of = fusion_levels(dense, views, {*inside}, poll)
    found: dict[int, list[int]] = {}
    for slot in inside:
        found.setdefault(level_of[slot], []).append(slot)
    pieces = [piece for level in sorted(found) for piece in _pieces(made, found[level])]
    pieces += alone.values()
    kept = _worthwhile(dense, views, pieces, poll, alone=on_device)
    return Partition(tape, made, views, kept)


def _pieces(made: Sequence[Instruction], slots: Sequence[int]) -> list[list[int]]:
    """As many as a kernel may have; the results of a loop are with it."""
    weights = [_weight(made[slot]) for slot in slots]
    most = -(-sum(weights) // -(-sum(weights) // MOST_INSTRUCTIONS))
    pieces: list[list[int]] = []
    of_loop: dict[int, list[int]] = {}
    weight = most
    for slot, own in zip(slots, weights, strict=True):
        if isinstance(made[slot].op, Item):
            of_loop[made[slot].args[0]].append(slot)
            continue
        if weight + own > most or not pieces:
            pieces.append([])
            weight = 0
        weight += own
        pieces[-1].append(slot)
        if isinstance(made[slot].op, Loop):
            of_loop[slot] = pieces[-1]
    return pieces


def _weight(instruction: Instruction) -> int:
    op = instruction.op
    if isinstance(op, Loop):
        return sum(map(_weight, op.body.tape.instructions))
    if isinstance(op, OfSquare):  # of several nests
        return _NESTS_OF_MATRIX
    return 0 if isinstance(op, Item) else 1


def _worthwhile(
    tape: Tape, views: Views, pieces: Sequence[list[int]], poll: Poll, *, alone: bool
) -> list[Part]:
    """Those of several instructions, or of one with much to do, or if one ``alone`` is enough."""
    made = tape.instructions
    part_of: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        for slot in piece:
            part_of[slot] = number
    results = _results(tape, views, part_of, poll)
    kept: list[Part] = []
    for piece in pieces:
        work = [_work(made[slot].op) for slot in piece]
        read = [slot for slot in piece if slot in results]
        if read and (alone or len(piece) > 1 or work[0] >= _LONG):
            kept.append(Part(piece, read))
    return kept


def _work(op: Op) -> int:
    """Work for an element: much where NumPy computes elements one by one, or several times."""
    one_by_one = isinstance(op, ScatterAdd | SetItem | LinearRecurrence | RunningPlace)
    return _LONG if one_by_one or isinstance(op, OfSquare) else getattr(op, "flops_per_element", 1)


def _results(tape: Tape, views: Views, part_of: Mapping[int, int], poll: Poll) -> set[int]:
    """The slots that are read outside its part, views of it included."""
    bases = views.bases
    results = {bases[slot] for slot in tape.outputs}
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        if bases[slot] != slot:
            continue
        mine = part_of.get(slot)
        for arg in instruction.args:
            if part_of.get(bases[arg], mine) != mine:
                results.add(bases[arg])
    return results & part_of.keys()
