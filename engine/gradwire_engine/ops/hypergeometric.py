"""Hypergeometric functions, differentiable in the argument; parameters are held constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, macro, register
from gradwire_engine.ops.elementwise import Special
from gradwire_engine.ops.promotion import special_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("hyp1f1", public=False)
class Hyp1f1(Special):
    """Kummer's function of constant parameters: ``z = ₁F₁(a; b; x)``."""

    ufunc = "special.hyp1f1"
    flops_per_element = 100

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar a / b ₁F₁(a + 1; b + 1; x)``."""
        a, b, x = operands
        return None, None, z_bar * (a / b * self(a + 1, b + 1, x))


@macro("hyp1f1")
def hyp1f1(builder: Builder, a: Any, b: Any, x: Any) -> Any:
    """Kummer's function: ``z = ₁F₁(a; b; x) = Σ (a)ₙ / (b)ₙ xⁿ / n!``.

    No derivative in ``a`` and ``b``; infinite or NaN where ``b`` is 0, -1, -2, ….
    Source: DLMF 13.2.2, 13.3.15.
    """
    return Hyp1f1()(*builder.promote(a, b, x, rule=special_promoted))


@register("hyp2f1", public=False)
class Hyp2f1(Special):
    """Gauss's function of constant parameters: ``z = ₂F₁(a, b; c; x)``."""

    ufunc = "special.hyp2f1"
    flops_per_element = 100

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar a b / c ₂F₁(a + 1, b + 1; c + 1; x)``."""
        a, b, c, x = operands
        return None, None, None, z_bar * (a * b / c * self(a + 1, b + 1, c + 1, x))


@macro("hyp2f1")
def hyp2f1(builder: Builder, a: Any, b: Any, c: Any, z: Any) -> Any:
    """Gauss's function: ``₂F₁(a, b; c; z) = Σ (a)ₙ (b)ₙ / (c)ₙ zⁿ / n!``, continued to z < 1.

    No derivative in ``a``, ``b`` and ``c``; infinite or NaN where ``c`` is 0, -1, -2, ….
    Source: DLMF 15.2.1, 15.5.1.
    """
    return Hyp2f1()(*builder.promote(a, b, c, z, rule=special_promoted))
