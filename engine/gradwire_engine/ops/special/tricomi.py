"""Tricomi's confluent hypergeometric function, by quadrature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import Special
from gradwire_engine.ops.special.quadratures import half_line, pieces
from gradwire_engine.tape import Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: The largest parameter, how far below 0 the first may be, and up to where integrals overflow.
_LARGEST, _LOWEST, _LEAST = 1e3, -200.0, 1e-301
#: Steps of a quadrature, by the width of a peak.
_PER_WIDTH = 0.6


@register("hyperu", public=False)
class HyperU(Special):
    """Tricomi's function of constant parameters: ``z = U(a, b, x)``.

    NaN for ``x < 0`` and next to 0, for parameters beyond a thousand, and for ``a < -200``.
    """

    workspace = 8.0
    flops_per_element = 5_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By an integral for positive ``a``, from which recurrences go down to others.

        At ``x = 0`` and infinity SciPy's routine.  Source: DLMF 13.3.7.
        """
        shaped = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        a, b, x = (v.reshape(-1) for v in shaped)
        bounded = (xp.abs(a) <= _LARGEST) & (xp.abs(b) <= _LARGEST) & (a >= _LOWEST)
        inside = bounded & (x > _LEAST) & (x < math.inf)
        at_end = bounded & ((x == 0) | (x == math.inf))
        found = xp.special.hyperu(a, b, xp.where(at_end, x, math.nan))
        for piece in pieces(xp, inside, -xp.log(x)):
            found[piece] = _tricomi(xp, a[piece], b[piece], x[piece])
        return found.reshape(shaped[-1].shape)[()].astype(operands[0].dtype)

    def holds(self, result: Type) -> bool:
        """Both parameters."""
        return True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar a U(a + 1, b + 1, x)``."""
        *parameters, x = operands
        a, b = (StopGradient()(p) for p in parameters)
        return None, None, -(z_bar * (a * self(a + 1, b + 1, x)))


def _tricomi(xp: Any, a: Any, b: Any, x: Any) -> Any:
    steps = xp.maximum(1 - xp.ceil(a), 0)
    c = a + steps
    z = _integral(xp, c, b, x)
    most = int(xp.max(steps))
    if not most:
        return z
    above = _integral(xp, c + 1, b, x)
    for k in range(most):
        going, d = k < steps, c - k
        below = (x + 2 * d - b) * z - d * (d - b + 1) * above
        z, above = xp.where(going, below, z), z
    return z


def _integral(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """``∫ tᵃ⁻¹ (1 + t)ᶜ exp(-x t) dt / Γ(a)``, ``c = b - a - 1``, for positive ``a``.

    That is ``τᵃ`` and the integral less ``exp(-t / τ)`` in place of its last factors, with a ``τ``
    so small that the difference is positive: nothing cancels, be ``a`` small.
    """
    c = b - a - 1
    size = xp.abs(c)
    rate, ln_gamma = x + size + 1, xp.special.gammaln(a)

    def integrand(t: Any) -> Any:
        log = c * xp.log1p(t) - x * t
        return -xp.expm1(-log - rate * t) * xp.exp((a - 1) * xp.log(t) + log - ln_gamma)

    # A peak has this width in ln t, at least, and is nothing beyond this argument.
    width, reach = 1 / xp.sqrt(a + 2 * size + 1), (1 + (a + size) / 20) / x
    total = half_line(xp, integrand, 1 / rate, reach, float(xp.min(width)) * _PER_WIDTH)
    return total + xp.exp(-a * xp.log(rate))
