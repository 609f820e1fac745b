"""Gradients by slices: of what is only gathered from, nothing of its whole shape is made.

The gradient in an array that is read as ``x[i]`` alone is the gradient in these slices, each at
its index; those of one index add up.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.segments import at_ids
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.linalg.coordinates import CooMatMul
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.ops.pointwise.arithmetic import Remainder
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors


def gathered(
    b: Builder, targets: Sequence[Var], groups: Sequence[Sequence[Var]]
) -> list[list[Var] | None]:
    """The slices that make ``targets``, gathered from each group's arrays along their first axes.

    None where anything else with a derivative reads one of them, or one is a target itself.
    """
    reads: dict[int, list[Var] | None] = {var.slot: [] for group in groups for var in group}
    for slot in sorted(ancestors(b.instructions, [x.slot for x in targets])):
        op, args, kind, _ = b.instructions[slot]
        if not op.differentiable or (isinstance(kind, ArrayType) and not kind.differentiable):
            continue
        for place, arg in enumerate(args):
            if (found := reads.get(arg)) is not None:
                if _gathers(op, place):
                    found.append(b.vars[slot])
                else:
                    reads[arg] = None
    reads.update(dict.fromkeys([target.slot for target in targets]))
    every = [[reads[var.slot] for var in group] for group in groups]
    return [None if None in found else [z for each in found for z in each or ()] for found in every]


def slices(reads: Sequence[Var], bars: Sequence[Var | None]) -> Sparse | None:
    """The gradient in what ``reads`` were gathered from, by slices as listed there.

    ``bars`` are the cotangents of ``reads``; None where there are none.
    """
    present = [(z, bar) for z, bar in zip(reads, bars, strict=True) if bar is not None]
    if not present:
        return None
    parts = [_slices(*pair) for pair in present]
    indices, values = [
        x[0] if len(x) == 1 else Concatenate(0)(*x) for x in zip(*parts, strict=True)
    ]
    shape = _table(present[0][0]).shape
    return Sparse({"indices": unsqueeze(indices, (1,)), "values": values}, shape)


def _table(z: Var) -> Var:
    """The array that one was gathered from."""
    op, args, _, _ = z.builder.instructions[z.slot]
    return z.builder.vars[args[3 if isinstance(op, CooMatMul) else 0]]


def _gathers(op: Op, place: int) -> bool:
    """True if ``op`` takes its operand at ``place`` by slices along the first axis."""
    if isinstance(op, GetItem):
        return op.pattern[:1] == (ARRAY,) and all(item == FULL for item in op.pattern[1:])
    return isinstance(op, CooMatMul) and place == 3


def _slices(z: Var, z_bar: Var) -> tuple[Var, Var]:
    """Indices, counted from the start, and slices for one that was gathered."""
    b = z.builder
    op, args, _, _ = b.instructions[z.slot]
    x = _table(z)
    if isinstance(op, CooMatMul):
        weights, row, index, _ = [b.vars[arg] for arg in args]
        values = at_ids(z_bar, row) * unsqueeze(conj(weights), (1,))
    else:
        _, index = [b.vars[arg] for arg in args]
        values = reshape(z_bar, (index.type.size, *x.shape[1:]))
    index = b.cast(reshape(index, (index.type.size,)), DTYPES["int64"])
    return Remainder()(index, index.constant(x.shape[0])), values
