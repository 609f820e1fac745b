"""Which instructions of a tape become kernels.

An instruction that a kernel can compute is in the kernel of its *phase*: the number of times that
one has to leave kernels for what libraries compute, and come back, before it can be computed. So
no kernel waits for what waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.kernels.form import DTYPES
from gradwire_engine.kernels.maps import is_map, is_view
from gradwire_engine.kernels.nests import is_reduction
from gradwire_engine.kernels.scalar import has_expression
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import ArrayType, Tape, Type

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
    products = 1
    for length in op.lengths(*[t.shape for t in types]).values():
        products *= length
    return products <= _MOST_PRODUCTS or not kind.shape or products == kind.size


def parts(tape: Tape, views: Views, poll: Poll = unhurried) -> list[Part]:
    """The parts of a tape that are worth a kernel, in an order in which they can be computed."""
    made = tape.instructions
    #: Twice the number of times, and one more for what libraries compute.
    phases = [0] * len(made)
    found: dict[int, list[int]] = {}
    for slot, (op, args, kind, _) in enumerate(polled(made, poll)):
        if isinstance(op, Input | Constant):
            continue
        if views.bases[slot] != slot:
            phases[slot] = phases[args[0]]
            continue
        inside = is_kernel(op, kind, [made[a].type for a in args])
        phase = 0 if inside else 1
        for arg in args:
            before = phases[arg]
            phase = max(phase, before + (before % 2 == inside))
        phases[slot] = phase
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
