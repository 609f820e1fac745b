"""Jacobians: a pullback for each element of the target, or a pushforward for each of the source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Copy
from gradwire_engine.ops.indexing import ScatterAdd
from gradwire_engine.tape import ArrayType, Shape


def jacobian(b: Builder, target: Var, sources: Sequence[Var]) -> list[Var | None]:
    """``J_s = ∂ target / ∂ s`` for each source, of shape ``target.shape + s.shape``.

    None without a path. Raises: ``OverBudget`` with the size where it would be too large.
    """
    columns = sum(source.type.size for source in sources)
    nbytes = target.type.size * columns * target.dtype.itemsize
    if nbytes > b.limits.array_bytes:
        raise OverBudget(
            f"the Jacobian would be {target.type.size} by {columns}: {nbytes} bytes",
            hint="differentiate a part of it, or take products with jvp and grad",
        )
    if not target.type.differentiable:
        return [None] * len(sources)
    by_rows = target.type.size <= columns
    return _rows(b, target, sources) if by_rows else _columns(b, target, sources)


def _rows(b: Builder, target: Var, sources: Sequence[Var]) -> list[Var | None]:
    """Reverse mode: a row for each element of the target."""
    rows = [pullback(b, [target], [unit], sources) for unit in _units(b, target)]
    return [
        _stacked([row[i] for row in rows], source, (*target.shape, *source.shape))
        for i, source in enumerate(sources)
    ]


def _columns(b: Builder, target: Var, sources: Sequence[Var]) -> list[Var | None]:
    """Forward mode, the transpose of the pullback: a column for each element of a source."""
    seed = Copy()(b.full(1, ArrayType(target.dtype, target.shape)))
    bars = pullback(b, [target], [seed], sources)
    found: list[Var | None] = []
    for source, bar in zip(sources, bars, strict=True):
        units = [] if bar is None else _units(b, source)
        dots = [pullback(b, [bar], [unit], [seed])[0] for unit in units if bar is not None]
        stacked = _stacked(dots, target, (*source.shape, *target.shape))
        if stacked is not None:
            ahead = len(source.shape)
            order = (*range(ahead, stacked.ndim), *range(ahead))
            stacked = PRIMITIVES["transpose"](order)(stacked)
        found.append(stacked)
    return found


def _units(b: Builder, like: Var) -> list[Var]:
    """Arrays like ``like`` with a one in turn at each element, else zeros."""
    one = b.scalar(1, like.dtype)
    return [ScatterAdd(index, like.shape)(one) for index in np.ndindex(*like.shape)]


def _stacked(parts: Sequence[Var | None], like: Var, shape: Shape) -> Var | None:
    """The parts along a new first axis, zeros for None, as ``shape``; None if all are None."""
    present = next((part for part in parts if part is not None), None)
    if present is None:
        return None
    zeros = present.builder.full(0, ArrayType(present.dtype, like.shape))
    stack = PRIMITIVES["stack"](0)
    stacked = stack(*[zeros if part is None else part for part in parts])
    return PRIMITIVES["reshape"](shape)(stacked)
