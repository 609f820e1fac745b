"""Robust penalties of residuals, as SciPy's special functions have them: the scale comes first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import macro
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import LessEqual
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.pointwise.trigonometric import Hypot
from gradwire_engine.ops.promotion import special_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@macro("huber")
def huber(b: Builder, delta: Any, r: Any) -> Any:
    """Huber's penalty: ``r² / 2`` where ``|r| ≤ delta``, else ``delta (|r| - delta / 2)``.

    Infinite for ``delta < 0``.  Source: Huber, Robust Estimation of a Location Parameter (1964).
    """
    delta, r = b.promote(delta, r, rule=special_promoted)
    size = Absolute()(r)
    z = Where()(LessEqual()(size, delta), r * r * 0.5, delta * (size - delta * 0.5))
    zero, infinite = (b.scalar(value, r.dtype) for value in (0, math.inf))
    return Where()(zero.exceeds(delta), infinite, z)


@macro("pseudo_huber")
def pseudo_huber(b: Builder, delta: Any, r: Any) -> Any:
    """Smooth penalty: ``delta² (sqrt(1 + (r / delta)²) - 1)``, in which nothing cancels.

    Infinite for ``delta < 0``, 0 where ``delta`` is.  Source: Charbonnier et al., Deterministic
    edge-preserving regularization in computed imaging (1997).
    """
    delta, r = b.promote(delta, r, rule=special_promoted)
    positive = delta.exceeds(0)
    one, zero, infinite = (b.scalar(value, r.dtype) for value in (1, 0, math.inf))
    scale = Where()(positive, delta, one)
    z = scale * (r * r) / (Hypot()(scale, r) + scale)
    return Where()(positive, z, Where()(zero.exceeds(delta), infinite, delta * Absolute()(r)))
