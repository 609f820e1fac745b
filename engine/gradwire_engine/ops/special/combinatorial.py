"""Rising factorials and binomial coefficients of real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.special.gamma import Digamma, DigammaRise

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("poch")
class Poch(SpecialBinary):
    """Rising factorial: ``z = (x)ₘ = Γ(x + m) / Γ(x)``, for real ``m``.

    Convention: derivatives NaN where ``x`` or ``x + m`` is 0, -1, -2, ….  Source: DLMF 5.2.5.
    """

    ufunc = "special.poch"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z (ψ(x + m) - ψ(x))``, ``m_bar = z_bar z ψ(x + m)``."""
        x, m = operands
        scaled = z_bar * z
        return scaled * DigammaRise()(x, m), scaled * Digamma()(x + m)


@register("binom")
class Binom(SpecialBinary):
    """Binomial coefficient of real numbers: ``z = Γ(n + 1) / (Γ(k + 1) Γ(n - k + 1))``.

    Convention: derivatives NaN where one of the gamma functions has a pole.  Source: DLMF 1.2.6.
    """

    ufunc = "special.binom"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``n_bar = z_bar z (ψ(n + 1) - ψ(n - k + 1))``, ``k_bar`` with ``ψ(k + 1)``, negative."""
        n, k = operands
        scaled, rest = z_bar * z, n - k + 1
        return scaled * DigammaRise()(rest, k), scaled * DigammaRise()(k + 1, n - k * 2)
