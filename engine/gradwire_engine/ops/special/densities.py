"""The density of the gamma distribution, which has its digits for large parameters.

By the distance from the mode instead of logarithms that cancel, as in Loader, "Fast and accurate
computation of binomial probabilities" (2000).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.exponential import XLogY
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.gamma import Digamma
from gradwire_engine.ops.special.tails import settled

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: From where on Stirling's series has all digits, and its coefficients.
_LARGE = 16.0
_STIRLING = 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360
#: Up to here, ``t - ln(1 + t)`` is a series, of so many terms.
_NEAR, _TERMS = 0.3, 12
#: Between this and its reciprocal nothing overflows.
_PLAIN = 1e-10


def _series(t: Any) -> Any:
    """``t - ln(1 + t)`` of small ``t``, by ``ln(1 + t) = 2 artanh r``, ``r = t / (2 + t)``."""
    r = t / (2 + t)
    square, total = r * r, 0.0
    for k in range(_TERMS, 0, -1):
        total = (total + 1 / (2 * k + 1)) * square
    return r * (t - 2 * total)


def _rest(x: Any) -> Any:
    """``ln Γ(x + 1) - (x ln x - x + ln(2πx) / 2)`` of large ``x``."""
    square, total = 1 / (x * x), 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total / x


def _of_numbers(a: float, x: float) -> float:
    if a < _LARGE:
        return math.exp((a - 1) * math.log(x) - x - math.lgamma(a))
    t = (x - a) / a
    excess = _series(t) if abs(t) < _NEAR else t - math.log1p(t)
    return math.exp(-_rest(a) - a * excess) / math.sqrt(2 * math.pi * a) * (a / x)


@register("gamma_density", public=False)
class GammaDensity(SpecialBinary):
    """Density of the gamma distribution: ``z = xᵃ⁻¹ exp(-x) / Γ(a)`` for ``x ≥ 0``, else NaN.

    Source: DLMF 8.2.4, 5.11.1.
    """

    workspace = 8.0
    flops_per_element = 120

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By powers for small ``a``, else by the distance from ``a``, in double precision."""
        a, x = operands
        if type(a) is type(x) is np.float64 and a > _PLAIN and _PLAIN < x < 1 / _PLAIN:
            return np.float64(_of_numbers(float(a), float(x)))
        a, x = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        is_large, at_end = a >= _LARGE, x == math.inf
        finite, small = xp.where(at_end, 1, x), xp.where(is_large, 1, a)
        scale = xp.special.rgamma(small)
        z = xp.exp(xp.special.xlogy(small - 1, finite) - finite) * scale
        z = xp.where(scale == 0, 0, z)
        if is_large.any():
            large = xp.where(is_large, a, _LARGE)
            t = (finite - large) / large
            near = abs(t) < _NEAR
            excess = xp.where(near, _series(xp.where(near, t, 0)), t - xp.log1p(t))
            inverse = large / xp.where(finite == 0, 1, finite)
            far = xp.exp(-_rest(large) - large * excess) / xp.sqrt(2 * math.pi * large)
            z = xp.where(is_large, far * inverse, z)
        z = xp.where(at_end, a * 0, z)
        return xp.where(x < 0, math.nan, z)[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z (a - 1 - x) / x``, ``a_bar = z_bar z (ln x - ψ(a))``."""
        a, x = operands
        zero, one = (x.builder.scalar(number, x.dtype) for number in (0, 1))
        at_zero = x.equals(0)
        safe = Where()(at_zero, one, x)
        beside = GammaDensity()(a - 1, zero) - GammaDensity()(a, zero)
        in_x = Where()(at_zero, beside, settled(x, z / safe * (a - x - 1)))
        return z_bar * (XLogY()(z, x) - z * Digamma()(a)), z_bar * in_x
