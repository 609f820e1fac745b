"""The gamma function, its logarithm and that one's derivatives, the zeta function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary, SpecialUnary
from gradwire_engine.ops.promotion import special_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("gammaln", "lgamma")
class GammaLn(SpecialUnary):
    """Logarithm of the gamma function's size: ``z = ln |Γ(x)|``, infinite at 0, -1, -2, ….

    Convention: the slope is NaN at the poles, -inf at +0.  Source: DLMF 5.2.1.
    """

    ufunc = "special.gammaln"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ψ(x)``."""
        return (z_bar * Digamma()(operands[0]),)


@register("gamma")
class Gamma(SpecialUnary):
    """Gamma function: ``z = Γ(x) = ∫ tˣ⁻¹ exp(-t) dt`` over positive ``t``, continued.

    Convention: NaN, as the slope, at -1, -2, ….  Source: DLMF 5.2.1.
    """

    ufunc = "special.gamma"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z ψ(x)``."""
        return (z_bar * (z * Digamma()(operands[0])),)


@register("digamma", "psi")
class Digamma(SpecialUnary):
    """Slope of the logarithm of gamma: ``z = ψ(x) = Γ'(x) / Γ(x)``.

    Convention: NaN at -1, -2, …, -inf at +0.  Source: DLMF 5.2.2.
    """

    ufunc = "special.digamma"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ψ'(x)``."""
        return (z_bar * polygamma_of(1, operands[0]),)


@register("polygamma")
class Polygamma(Special):
    """Derivative number ``n`` of digamma: ``z = ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n + 1, x)``.

    The order is static. Convention: infinite at 0, -1, -2, ….  Source: DLMF 5.15.1.
    """

    n: int

    @classmethod
    def record(cls, b: Builder, n: Static, x: Any) -> Any:
        """Record with a static order."""
        order = integer(n, "n")
        if order < 0:
            raise BadArgument(f"polygamma needs an order of 0 or more, got {order}")
        return polygamma_of(order, *b.promote(x, rule=special_promoted))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Hurwitz's zeta function."""
        (x,) = operands
        order = xp.asarray(self.n + 1, dtype=x.dtype)
        sign = -1.0 if self.n % 2 == 0 else 1.0
        return xp.special.gamma(order) * sign * xp.special.zeta(order, x)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ψ⁽ⁿ⁺¹⁾(x)``."""
        return (z_bar * polygamma_of(self.n + 1, operands[0]),)


def polygamma_of(n: int, x: Var) -> Var:
    """``ψ⁽ⁿ⁾(x)``; for ``n = 0`` digamma itself, which zeta's pole does not give."""
    return Polygamma(n)(x) if n else Digamma()(x)


@macro("multigammaln")
def multigammaln(b: Builder, a: Any, d: Static) -> Any:
    """Logarithm of the gamma function of ``d`` dimensions, ``d`` static.

    ``z = d (d - 1) / 4 ln π + Σ ln Γ(a - j / 2)`` over ``j < d``; meant for ``a > (d - 1) / 2``,
    where SciPy refuses others.  Source: DLMF 35.3.4.
    """
    dimensions = integer(d, "d")
    if dimensions < 1:
        raise BadArgument(f"multigammaln needs one dimension at least, got {dimensions}")
    (a,) = b.promote(a, rule=special_promoted)
    total = GammaLn()(a)
    for j in range(1, dimensions):
        total = total + GammaLn()(a - j / 2)
    return total + dimensions * (dimensions - 1) / 4 * math.log(math.pi)


@register("zeta")
class Zeta(SpecialBinary):
    """Zeta function of Hurwitz's: ``z = ζ(x, q) = Σ (k + q)⁻ˣ`` over ``k ≥ 0``; Riemann's: q = 1.

    The exponent ``x`` is held constant: no derivative in it. NaN for ``x < 1``.
    Source: DLMF 25.11.1, 25.11.17.
    """

    @classmethod
    def record(cls, b: Builder, x: Any, q: Any = 1) -> Any:
        """Record on an exponent and an offset."""
        return super().record(b, x, q)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine."""
        return xp.special.zeta(*operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``q_bar = -z_bar x ζ(x + 1, q)``."""
        x, q = operands
        return None, -(z_bar * (x * Zeta()(x + 1, q)))
