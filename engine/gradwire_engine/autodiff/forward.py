"""Forward mode, derived: the transpose of the transpose, less what is dead code then."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Copy
from gradwire_engine.tape import ArrayType


def pushforward(
    b: Builder, outputs: Sequence[Var], sources: Sequence[Var], tangents: Sequence[Var]
) -> list[Var | None]:
    """Tangents of ``outputs`` for tangents of ``sources``: ``y_dot = Σ_s J_s(x) s_dot``.

    The pullback is linear in its seeds, so it is transposed at arbitrary ones. Source: Townsend,
    "A new trick for calculating Jacobian vector products" (2017).
    """
    seeds = [Copy()(b.full(1, ArrayType(y.type.dtype, y.type.shape))) for y in outputs]
    bars = pullback(b, outputs, seeds, sources)
    reached = [(bar, dot) for bar, dot in zip(bars, tangents, strict=True) if bar is not None]
    return pullback(b, [bar for bar, _ in reached], [dot for _, dot in reached], seeds)
