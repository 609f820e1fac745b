"""Batching rules that families of operations share: many examples along a new first axis.

A rule gets the operands of one instruction, those that differ between examples with a batch axis in
front, and records the operation on all examples at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gradwire_engine.ops.base import PRIMITIVES, Op

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var
    from gradwire_engine.tape import Shape


def over_stacks(op: Op, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
    """For operations that broadcast the axes before those they work on: just another of these."""
    if len(operands) == 1:
        return op(*operands)
    return op(*aligned(operands, batched))


def along_axes(op: Op, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
    """For operations that name their axes, all of the same operand ranks: each axis is one on."""
    fields: dict[str, int | tuple[int, ...]] = {}
    if "axis" in op.parameters:
        fields["axis"] = op.axis + 1  # type: ignore[attr-defined]
    if "axes" in op.parameters:
        fields["axes"] = tuple([axis + 1 for axis in op.axes])  # type: ignore[attr-defined]
    return replace(op, **fields)(*everywhere(operands, batched))  # type: ignore[type-var]


def examples(operands: Sequence[Var], batched: Sequence[bool]) -> int:
    """The number of examples."""
    return operands[batched.index(True)].type.shape[0]


def everywhere(operands: Sequence[Var], batched: Sequence[bool]) -> list[Var]:
    """The operands, those that all examples share repeated along a batch axis."""
    size = examples(operands, batched)
    pairs = zip(operands, batched, strict=True)
    return [x if own else x.builder.broadcast(x, (size, *x.type.shape)) for x, own in pairs]


def aligned(operands: Sequence[Var], batched: Sequence[bool], ndim: int = 0) -> list[Var]:
    """The operands so that they broadcast as those of an example do, which has ``ndim`` axes.

    Axes of length 1 go between the batch axis and an example of fewer axes.
    """
    pairs = list(zip(operands, batched, strict=True))
    ndim = max([ndim, *[x.ndim - own for x, own in pairs]])
    return [raised(x, ndim) if own else x for x, own in pairs]


def raised(x: Var, ndim: int) -> Var:
    """Examples of ``ndim`` axes, the new ones of length 1 and first."""
    missing = ndim + 1 - x.ndim
    if missing <= 0:
        return x
    size, *rest = x.type.shape
    return reshaped(x, (size, *(1,) * missing, *rest))


def reshaped(x: Var, shape: Shape) -> Var:
    """``x`` as ``shape``."""
    return x if x.type.shape == shape else PRIMITIVES["reshape"](shape)(x)


def transposed(x: Var, axes: Shape) -> Var:
    """``x`` with its axes in the order ``axes``."""
    natural = axes == tuple(range(x.ndim))
    return x if natural else PRIMITIVES["transpose"](axes)(x)
