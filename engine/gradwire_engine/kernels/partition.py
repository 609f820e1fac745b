"""Which instructions of a tape become kernels.

An instruction that a kernel can compute is in the kernel of its *phase*: the number of times that
one has to leave kernels for what libraries compute, and come back, before it can be computed. So
no kernel waits for what waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.kernels.loops import LoopBody
from gradwire_engine.kernels.maps import is_map, is_view
from gradwire_engine.kernels.nests import is_reduction
from gradwire_engine.kernels.scalar import DTYPES, has_expression
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.loops import Loop
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import ArrayType, Instruction, Tape, Type

#: Products that are fewer are computed in place, more by BLAS.
_MOST_PRODUCTS = 4096
#: Most instructions of a kernel: compiling takes time in proportion.
MOST_INSTRUCTIONS = 600
#: Work for an element from which on an instruction by itself is worth a kernel.
_LONG = 8


class Part(NamedTuple):
    """The instructions of a kernel, and those of them that others read."""

    slots: Sequence[int]
    results: Sequence[int]


def is_kernel(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """Whether a kernel can compute an instruction."""
    if not isinstance(kind, ArrayType) or kind.dtype.char not in DTYPES or not kind.size:
        return False
    for each in types:
        if not isinstance(each, ArrayType) or not each.size or each.dtype.char not in DTYPES:
            return False
    if is_view(op):  # whose elements are not in the order of what they are of
        return False
    if isinstance(op, Contract):
        return is_reduction(op, kind, types) and _is_small(op, kind, types)  # type: ignore[arg-type]
    return (
        has_expression(op, kind, types)
        or is_map(op, [t.shape for t in types])  # type: ignore[union-attr]
        or is_reduction(op, kind, types)  # type: ignore[arg-type]
    )


def _is_small(op: Contract, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """Whether BLAS has nothing to win: few products, a single number, or nothing is summed."""
    products = math.prod(op.lengths(*[t.shape for t in types]).values())
    return products <= _MOST_PRODUCTS or not kind.shape or products == kind.size


def is_loop(made: Sequence[Instruction], views: Views, slot: int) -> bool:
    """Whether a kernel can make all passes of the loop at ``slot``: it knows all of its body."""
    op, args, _, _ = made[slot]
    assert isinstance(op, Loop)
    if not (op.is_straight and op.passes and op.kept_bytes * op.passes <= op.most_bytes):
        return False
    given = [made[arg].type for arg in args]
    if not all(map(_is_known, given)):
        return False
    body = LoopBody(op)
    inside, inner = body.instructions, body.views
    if len(body.slots) > MOST_INSTRUCTIONS:
        return False
    for each in body.slots:
        within, operands, kind, _ = inside[each]
        if isinstance(within, Loop):
            known = is_loop(inside, inner, each)
        elif isinstance(within, Item):
            known = isinstance(inside[operands[0]].op, Loop) and _is_known(kind)
        else:
            known = is_kernel(within, kind, [inside[a].type for a in operands])
            known = known or _is_read_once(within, kind, [inside[a].type for a in operands])
        # what is shared is read in row-major order where it is, not through other views
        for x in operands:
            number = body.numbers.get(inner.bases[x], 0)
            if inner.ordered[x] and number > op.carries:
                known = (
                    known
                    and views.bases[args[number - 1 + op.counted]] == args[number - 1 + op.counted]
                )
        if not known:
            return False
    return all(_is_known(inside[copy].type) for copy in body.copies.values())


def _is_known(kind: Type) -> bool:
    return isinstance(kind, ArrayType) and kind.dtype.char in DTYPES and bool(kind.size)


def _is_read_once(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """Whether a contraction takes each element of its larger operand once: memory bounds it."""
    if not isinstance(op, Contract) or not is_reduction(op, kind, types):  # type: ignore[arg-type]
        return False
    products = math.prod(op.lengths(*[t.shape for t in types]).values())  # type: ignore[union-attr]
    return products <= max([t.size for t in types])  # type: ignore[union-attr]


def parts(tape: Tape, views: Views, poll: Poll = unhurried) -> list[Part]:
    """The parts of a tape that are worth a kernel, in an order in which they can be computed."""
    made = tape.instructions
    #: Twice the number of times, and one more for what libraries compute.
    phases = [0] * len(made)
    found: dict[int, list[int]] = {}
    loops: set[int] = set()
    for slot, (op, args, kind, _) in enumerate(polled(made, poll)):
        if isinstance(op, Input | Constant):
            continue
        if views.bases[slot] != slot:
            phases[slot] = phases[args[0]]
            continue
        if isinstance(op, Loop):
            inside = is_loop(made, views, slot)
        elif isinstance(op, Item):
            inside = args[0] in loops
        else:
            inside = is_kernel(op, kind, [made[a].type for a in args])
        phase = 0 if inside else 1
        for arg in args:
            before = phases[arg]
            phase = max(phase, before + (before % 2 == inside))
        phases[slot] = phase
        if inside and isinstance(op, Loop):
            loops.add(slot)
        if inside:
            found.setdefault(phase, []).append(slot)
    pieces = [piece for phase in sorted(found) for piece in _pieces(found[phase])]
    return _worthwhile(tape, views, pieces, poll)


def _pieces(slots: Sequence[int]) -> list[list[int]]:
    """As many as a kernel may have."""
    n = -(-len(slots) // MOST_INSTRUCTIONS)
    size = -(-len(slots) // n)
    return [[*slots[start : start + size]] for start in range(0, len(slots), size)]


def _worthwhile(tape: Tape, views: Views, pieces: Sequence[list[int]], poll: Poll) -> list[Part]:
    made = tape.instructions
    part_of: dict[int, int] = {}
    for number, piece in enumerate(pieces):
        for slot in piece:
            part_of[slot] = number
    results = _results(tape, views, part_of, poll)
    kept: list[Part] = []
    for piece in pieces:
        work = [getattr(made[slot].op, "flops_per_element", 1) for slot in piece]
        read = [slot for slot in piece if slot in results]
        if read and (len(piece) > 1 or work[0] >= _LONG):
            kept.append(Part(piece, read))
    return kept


def _results(tape: Tape, views: Views, part_of: Mapping[int, int], poll: Poll) -> set[int]:
    """What is read outside its part, views of it included."""
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
