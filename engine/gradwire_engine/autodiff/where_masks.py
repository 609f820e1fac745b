"""The lazy gradient of ``where``: a branch not taken contributes exactly 0, whatever it computes.

Cotangents that come out of a branch carry a *mask*, true where the branch was taken. A rule that
multiplies by values could turn their zeros into NaN (0 times infinity), so its results are cut to
the mask. Masks come from conditions, never from a cotangent being 0: a cut by value would be wrong
to second order, where a derivative that happens to vanish still varies.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES, Cotangents, Op
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.tape import ArrayType, is_stack

#: Boolean variable that broadcasts to the cotangent it belongs to; None is all true.
Mask = Var | None


def branch_masks(operands: Sequence[Var], mask: Mask) -> tuple[Mask, Mask, Mask]:
    """Masks of ``where``'s operands."""
    condition, x, y = operands
    taken = condition
    other = PRIMITIVES["logical_not"]()(condition)
    if mask is not None:
        both = PRIMITIVES["logical_and"]()
        taken, other = both(taken, mask), both(other, mask)
    return None, _fit(taken, x), _fit(other, y)


def operand_mask(
    op: Op, mask: Var, bars: Cotangents, z: Var, operands: Sequence[Var]
) -> tuple[Cotangents, Sequence[Mask]]:
    """Cotangents cut to the mask, and the masks that the operands' cotangents carry on."""
    if op.linear:
        return bars, _through_linear(op, mask, z, operands)
    if op.elementwise:
        cut = mask
        masks = [_fit(mask, operand) for operand in operands]
    else:
        cut = FUNCTIONS["any"].record(mask.builder, mask)
        masks = [cut] * len(operands)
    return [None if bar is None else _cut(bar, cut) for bar in bars], masks


def _cut(bar: Var, mask: Var) -> Var:
    """``bar`` where the mask is true, else zeros; a loop cuts the items of its passes itself."""
    if is_stack(bar.type):
        return bar
    return PRIMITIVES["where"]()(mask, bar, bar.constant(0))


def _through_linear(op: Op, mask: Var, z: Var, operands: Sequence[Var]) -> list[Mask]:
    """A linear rule moves zeros as it moves cotangents, so apply it to the mask itself.

    Of what passes of a loop gave one mask is for all.
    """
    b = mask.builder
    if not all(isinstance(x.type, ArrayType) for x in (z, *operands)):
        return [FUNCTIONS["any"].record(b, mask)] * len(operands)
    ones = b.broadcast(b.cast(mask, z.type.dtype), z.type.shape)
    if z.type.dtype.kind == "c":  # else zeros where imaginary parts go elsewhere than real ones
        ones = ones * b.scalar(1 + 1j, z.type.dtype)
    differs = PRIMITIVES["not_equal"]()
    moved = [
        None if bar is None else differs(bar, bar.constant(0)) for bar in op.vjp(ones, z, *operands)
    ]
    return [
        None if m is None else _fit(m, operand) for m, operand in zip(moved, operands, strict=True)
    ]


def _fit(mask: Var, operand: Var) -> Var:
    """The mask of a broadcast operand: true where any of its copies counts."""
    shape = operand.type.shape
    if broadcast_shapes(mask.type.shape, shape) == shape:
        return mask
    extra = mask.ndim - len(shape)
    repeated = [a for a in range(mask.ndim) if a < extra or shape[a - extra] == 1]
    kept: Var = FUNCTIONS["any"].record(mask.builder, mask, axis=tuple(repeated), keepdims=True)
    return PRIMITIVES["reshape"](kept.type.shape[max(extra, 0) :])(kept)
