"""The beta function and its logarithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.special.gamma import DigammaRise

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("beta")
class Beta(SpecialBinary):
    """Beta function: ``z = B(a, b) = Γ(a) Γ(b) / Γ(a + b)``.  Source: DLMF 5.12.1."""

    ufunc = "special.beta"
    workspace = 4.0

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z_bar z (ψ(a) - ψ(a + b))``, and so in ``b``."""
        return BetaLn().vjp(z_bar * z, z, *operands)


@register("betaln")
class BetaLn(SpecialBinary):
    """Logarithm of the beta function's size: ``z = ln |B(a, b)|``.  Source: DLMF 5.12.1."""

    ufunc = "special.betaln"
    workspace = 4.0

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z_bar (ψ(a) - ψ(a + b))``, and so in ``b``."""
        a, b = operands
        return -(z_bar * DigammaRise()(a, b)), -(z_bar * DigammaRise()(b, a))
