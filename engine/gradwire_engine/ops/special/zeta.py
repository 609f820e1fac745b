"""Zeta functions of Hurwitz and Riemann, differentiable in both operands and to all orders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Terms summed one by one, and the last term of the Euler-Maclaurin series for the rest.
_SUMMED, _TERMS = 20, 20


@register("zeta")
class Zeta(SpecialBinary):
    """Zeta function of Hurwitz's: ``z = ζ(x, q) = Σ (k + q)⁻ˣ`` over ``k ≥ 0``; Riemann's: q = 1.

    NaN for ``x < 1``; its derivative in ``x`` also for ``q ≤ 0``.  Source: DLMF 25.11.1, 25.11.17.
    """

    @classmethod
    def record(cls, b: Builder, x: Any, q: Any = 1) -> Any:
        """Record on an exponent and an offset."""
        return super().record(b, x, q)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine."""
        return xp.special.zeta(*operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ∂ζ/∂x``, ``q_bar = -z_bar x ζ(x + 1, q)``."""
        return ZetaInX(0).vjp(z_bar, z, *operands)


@register("zeta_in_x", public=False)
class ZetaInX(SpecialBinary):
    """Derivative number ``n > 0`` of ``ζ(x, q)`` in ``x``: ``z = Σ (-ln(k + q))ⁿ (k + q)⁻ˣ``."""

    n: int
    flops_per_element = 1000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Some terms, and the rest by Euler's and Maclaurin's formula, in double precision.

        Source: DLMF 25.11.5, differentiated.
        """
        valid = (operands[0] > 1) & (operands[1] > 0)
        x, q = (xp.where(valid, v, 2).astype("float64") for v in operands)
        total = xp.zeros(xp.shape(x))
        for k in range(_SUMMED):
            total = total + (-xp.log(q + k)) ** self.n * (q + k) ** -x
        a = q + _SUMMED
        orders = range(self.n + 1)
        # Derivatives of aˣ times the rest, which is a sum of rational functions of x.
        rest = [(-1) ** i * math.factorial(i) * a / (x - 1) ** (i + 1) for i in orders]
        rest[0] = rest[0] + 0.5
        rising = [xp.ones(xp.shape(x)), *[xp.zeros(xp.shape(x)) for _ in range(self.n)]]
        bernoulli = xp.special.bernoulli(_TERMS)
        for j in range(1, _TERMS):
            rising = [
                (x + j - 1) * r + (i * rising[i - 1] if i else 0) for i, r in enumerate(rising)
            ]
            if j % 2:
                weight = bernoulli[j + 1] / math.factorial(j + 1) / a**j
                rest = [one + weight * r for one, r in zip(rest, rising, strict=True)]
        power = a**-x
        for i in orders:
            log = (-xp.log(a)) ** (self.n - i) * math.comb(self.n, i)
            total = total + xp.where(power > 0, log * power * rest[i], 0)
        return xp.where(valid, total, math.nan).astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` by the next derivative; ``q_bar`` by those of ``-x ζ(x + 1, q)``."""
        x, q = operands
        in_q = x * _zeta_in_x(self.n, x + 1, q)
        if self.n:
            in_q = in_q + _zeta_in_x(self.n - 1, x + 1, q) * self.n
        return z_bar * _zeta_in_x(self.n + 1, x, q), -(z_bar * in_q)


def _zeta_in_x(n: int, x: Var, q: Var) -> Var:
    return ZetaInX(n)(x, q) if n else Zeta()(x, q)
