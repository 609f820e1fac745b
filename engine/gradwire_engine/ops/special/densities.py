"""Densities of gamma and beta laws and their logarithms, with all digits for large parameters.

By the distance from the mode instead of logarithms that cancel, as in Loader, "Fast and accurate
computation of binomial probabilities" (2000).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary
from gradwire_engine.ops.pointwise.activations import Sigmoid, Softplus
from gradwire_engine.ops.pointwise.exponential import Log, XLogY
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.error_functions import XLog1pY
from gradwire_engine.ops.special.gamma import Digamma, DigammaRise
from gradwire_engine.ops.special.tails import settled

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: From where on Stirling's series has all digits, and its coefficients.
_LARGE = 16.0
_STIRLING = 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360
#: Up to here, ``t - ln(1 + t)`` is a series, of so many terms.
_NEAR, _TERMS = 0.3, 12
#: Down to here, reciprocals are finite; smaller densities say nothing of their slopes.
_TINY = 1e-300
#: Between this and its reciprocal nothing overflows.
_PLAIN = 1e-10


def _series(t: Any) -> Any:
    """``t - ln(1 + t)`` of small ``t``, by ``ln(1 + t) = 2 artanh r``, ``r = t / (2 + t)``."""
    r = t / (2 + t)
    square, total = r * r, 0.0
    for k in range(_TERMS, 0, -1):
        total = (total + 1 / (2 * k + 1)) * square
    return r * (t - 2 * total)


def excess(xp: Any, t: Any, ratio: Any) -> Any:
    """``t - ln(1 + t)``; ``ratio`` is ``1 + t``, which has more digits near 0."""
    near = abs(t) < _NEAR
    return xp.where(near, _series(xp.where(near, t, 0)), t - xp.log(ratio))


def _rest(x: Any) -> Any:
    """``ln Γ(x + 1) - (x ln x - x + ln(2πx) / 2)`` of large ``x``."""
    square, total = 1 / (x * x), 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total / x


def _fall(xp: Any, a: Any, x: Any) -> Any:
    """``ln(xᵃ exp(-x) / Γ(a)) - ln(a / 2π) / 2`` of large ``a``."""
    return -_rest(a) - a * excess(xp, (x - a) / a, x / a)


def _fall_of_share(xp: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    """``ln(xᵃ yᵇ / B(a, b)) - ln(ab / (2π (a + b))) / 2`` of large parameters, ``x + y = 1``."""
    n, apart = a + b, b * x - a * y
    total = a * excess(xp, apart / a, n * x / a) + b * excess(xp, -apart / b, n * y / b)
    return _rest(n) - _rest(a) - _rest(b) - total


def _of_numbers(a: float, x: float) -> float:
    if a < _LARGE:
        return math.exp((a - 1) * math.log(x) - x - math.lgamma(a))
    t = (x - a) / a
    excess = _series(t) if abs(t) < _NEAR else t - math.log(x / a)
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
            inverse = large / xp.where(finite == 0, 1, finite)
            far = xp.exp(_fall(xp, large, finite)) / xp.sqrt(2 * math.pi * large)
            z = xp.where(is_large, xp.where(far == 0, 0, far * inverse), z)
        z = xp.where(at_end, a * 0, z)
        return xp.where(x < 0, math.nan, z)[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z (a - 1 - x) / x``, ``a_bar = z_bar z (ln x - ψ(a))``."""
        a, x = operands
        zero, one = (x.constant(number) for number in (0, 1))
        inside = x.exceeds(_TINY) & z.exceeds(_TINY)
        safe, end = Where()(inside, x, one), Where()(inside, zero, x)
        beside = GammaDensity()(a - 1, end) - GammaDensity()(a, end)
        in_x = Where()(inside, settled(x, z / safe * (a - 1 - safe)), beside)
        return z_bar * (XLogY()(z, x) - z * Digamma()(a)), z_bar * in_x


@register("beta_density", public=False)
class BetaDensity(Special):
    """Density of the beta distribution: ``z = xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)`` for ``0 ≤ x ≤ 1``.

    Source: DLMF 8.17.1, 5.11.1.
    """

    workspace = 8.0
    flops_per_element = 200

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By powers, for large ``a`` and ``b`` by the distance from the mean, in float64."""
        a, b, x = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        special = xp.special
        sign = special.gammasgn(a) * special.gammasgn(b) * special.gammasgn(a + b)
        ln_beta = special.betaln(a, b)
        ln_powers = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x)
        z = xp.where(ln_beta == math.inf, 0, sign * xp.exp(ln_powers - ln_beta))
        is_large = (a >= _LARGE) & (b >= _LARGE) & (x > 0) & (x < 1)
        if is_large.any():
            a, b, x = (
                xp.where(is_large, v, default) for v, default in ((a, 32), (b, 32), (x, 0.5))
            )
            y, root = 1 - x, xp.sqrt(a / (2 * math.pi) * (b / (a + b)))
            far = xp.exp(_fall_of_share(xp, a, b, x, y))
            z = xp.where(is_large, far * root / (x * y), z)
        return z[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z ((a - 1) / x - (b - 1) / (1 - x))``; others by digamma functions.

        At 0 and 1 as a difference of densities of other parameters.
        """
        a, b, x = operands
        zero, half = (x.constant(number) for number in (0, 0.5))
        inside = x.exceeds(_TINY) & (1 - x).exceeds(0) & z.exceeds(_TINY)
        safe, ends = Where()(inside, x, half), Where()(inside, zero, x)
        beside = BetaDensity()(a - 1, b, ends) - BetaDensity()(a, b - 1, ends)
        apart = (a - 1) * (1 - safe) - (b - 1) * safe
        in_x = Where()(inside, z / safe * (apart / (1 - safe)), (a + b - 1) * beside)
        in_a = XLogY()(z, x) + z * DigammaRise()(a, b)
        in_b = XLog1pY()(z, -x) + z * DigammaRise()(b, a)
        return z_bar * in_a, z_bar * in_b, z_bar * in_x


@register("log_gamma_density", public=False)
class LogGammaDensity(SpecialBinary):
    """Logarithm of the density of ``ln x`` for the gamma law: ``z = ln(xᵃ exp(-x) / Γ(a))``.

    Source: DLMF 8.2.4, 5.11.1.
    """

    workspace = 8.0
    flops_per_element = 120

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By logarithms for small ``a``, else by the distance from ``a``, in double precision."""
        a, x = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        z = xp.special.xlogy(a, x) - x - xp.special.gammaln(a)
        is_large = a >= _LARGE
        if is_large.any():
            large = xp.where(is_large, a, _LARGE)
            far = _fall(xp, large, x) + xp.log(large / (2 * math.pi)) / 2
            z = xp.where(is_large, far, z)
        return xp.where(x == math.inf, -x, z)[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (a - x) / x``, ``a_bar = z_bar (ln x - ψ(a))``."""
        a, x = operands
        return z_bar * (Log()(x) - Digamma()(a)), z_bar * settled(x, (a - x) / x, -1)


@register("log_beta_density", public=False)
class LogBetaDensity(Special):
    """Logarithm of the density of the log-odds ``y`` for the beta law.

    ``z = ln(xᵃ (1 - x)ᵇ / B(a, b))`` where ``y = ln(x / (1 - x))``.  Source: DLMF 8.17.1, 5.11.1.
    """

    workspace = 8.0
    flops_per_element = 200

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By logarithms, for large ``a`` and ``b`` by the distance from the mean, in float64."""
        a, b, y = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        special = xp.special
        z = a * special.log_expit(y) + b * special.log_expit(-y) - special.betaln(a, b)
        is_large = (a >= _LARGE) & (b >= _LARGE)
        if is_large.any():
            a, b = (xp.where(is_large, v, _LARGE) for v in (a, b))
            far = _fall_of_share(xp, a, b, special.expit(y), special.expit(-y))
            far = far + xp.log(a / (2 * math.pi) * (b / (a + b))) / 2
            z = xp.where(is_large, far, z)
        return z[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = z_bar (a (1 - x) - b x)``; others by digamma functions."""
        a, b, y = operands
        in_a = DigammaRise()(a, b) - Softplus()(-y)
        in_b = DigammaRise()(b, a) - Softplus()(y)
        return z_bar * in_a, z_bar * in_b, z_bar * (a * Sigmoid()(-y) - b * Sigmoid()(y))
