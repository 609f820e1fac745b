"""Incomplete gamma functions, differentiable in all operands and to all orders.

The derivatives in the parameters are not in SciPy. They are integrals of the differentiated
densities; of the two sides of ``x``, that is taken on which the integrand keeps its sign, so that
nothing cancels. Source of the problem: Moore, "Algorithm AS 187" (1982).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.comparison import IsNan
from gradwire_engine.ops.pointwise.exponential import Log
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.densities import GammaDensity, excess
from gradwire_engine.ops.special.gamma import polygamma_of
from gradwire_engine.ops.special.quadratures import (
    NEGLIGIBLE,
    bell,
    pieces,
    segment,
)

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Shares of large parameters, and their reciprocals, where densities are 0.
_NOTHING = 1e-10
#: The least share of a series' term.
_LEAST = 1e-17
#: From here on a gamma density is nearly normal in ``ln t``; nodes for the rest of one.
LARGE, _NODES = 2e2, 24


class _OfGamma(SpecialBinary):
    """``P(a, x)``, or its rest to 1 of opposite sign."""

    flops_per_element = 60
    sign: ClassVar[int] = 1

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z_bar ∂P/∂a``, ``x_bar = z_bar xᵃ⁻¹ exp(-x) / Γ(a)``; or these negative."""
        return GammaIncInA(0).vjp(z_bar if self.sign > 0 else -z_bar, z, *operands)


@register("gammainc")
class GammaInc(_OfGamma):
    """Regularised lower incomplete gamma function: ``z = P(a, x) = ∫ tᵃ⁻¹ exp(-t) dt / Γ(a)``.

    From 0 to ``x``; derivatives in both operands.  Source: DLMF 8.2.4.
    """

    ufunc = "special.gammainc"


@register("gammaincc")
class GammaIncC(_OfGamma):
    """Regularised upper incomplete gamma function: ``z = Q(a, x) = 1 - P(a, x)``.

    Source: DLMF 8.2.4.
    """

    ufunc = "special.gammaincc"
    sign = -1


@register("gammainc_in_a", public=False)
class GammaIncInA(SpecialBinary):
    """Derivative number ``n > 0`` of ``P(a, x)`` in ``a``: ``z = ∂ⁿP/∂aⁿ``.

    Relative error below 1e-9 for ``n = 1`` and ``a`` from 1e-2 to 1e3; NaN unless ``a > 0``.
    ``in_proportion`` that for constant ``x / a``, of ``a`` from 200 on, and 0 below.
    """

    n: int
    in_proportion: bool = False
    flops_per_element = 10_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """In double precision: sums for ``x`` below small ``a``, else integrals."""
        a, x = xp.broadcast_arrays(*operands)
        valid = (a > 0) & (a < math.inf) & (x >= 0)
        a, x = (xp.where(valid, v, 1).astype("float64").reshape(-1) for v in (a, x))
        found = xp.zeros(a.shape)
        small, below = a < LARGE, x < a + 1
        for chosen, rule in (
            (small & below & (not self.in_proportion), self._series),
            (small & ~below & (not self.in_proportion), self._integral),
            (~small, self._part_of_peak),
        ):
            for piece in pieces(xp, chosen, a):
                found[piece] = rule(xp, a[piece], x[piece])
        shaped = found.reshape(valid.shape)
        return xp.where(valid, shaped, math.nan).astype(operands[0].dtype)

    def _series(self, xp: Any, a: Any, x: Any) -> Any:
        """Of ``P = Σ x^(a+k) exp(-x) / Γ(a + k + 1)``, for ``x < a + 1``.  Source: DLMF 8.11.4."""
        inside = x > 0
        log = xp.log(xp.where(inside, x, 1))
        slopes = falling_slopes(xp, self.n, a, log)
        term, total, k = xp.ones(a.shape), bell(self.n, slopes), 0
        while float(xp.max(term)) > _LEAST:
            k += 1
            rest = next_slopes(slopes, a + k)
            term = term * x * rest
            total = total + term * bell(self.n, slopes)
        return xp.where(inside, total * xp.exp(a * log - x - xp.special.gammaln(a + 1)), 0)

    def _integral(self, xp: Any, a: Any, x: Any) -> Any:
        """The integral in ``ln t`` beyond ``x``; by ``1 / Γ(a) = a / Γ(a + 1)`` nothing cancels."""
        x = xp.minimum(x, 1 / _NOTHING)
        start, ln_gamma = xp.log(x), xp.special.gammaln(a + 1)
        psi = falling_slopes(xp, self.n, a, 0.0)
        reach = NEGLIGIBLE
        for _ in range(8):
            reach = NEGLIGIBLE + a * xp.log1p(reach / x)

        def integrand(y: Any) -> Any:
            ln_t = start + y
            slopes = [psi[0] + ln_t, *psi[1:]]
            density = xp.exp(a * ln_t - xp.exp(ln_t) - ln_gamma)
            return density * (a * bell(self.n, slopes) + self.n * bell(self.n - 1, slopes))

        return -segment(xp, integrand, xp.log1p(reach / x), _NODES)

    def _part_of_peak(self, xp: Any, a: Any, x: Any) -> Any:
        """The same for large ``a``, in ``y = ln(t / a)`` by the distance from the mode."""
        apart = xp.minimum(xp.maximum((x - a) / a, _NOTHING - 1), 1 / _NOTHING)
        edge, steep = xp.log1p(apart), xp.abs(apart)
        inverse = 1 / (a * a)
        # ln a - ψ(a).  Source: DLMF 5.11.2
        rise = (0.5 + (1 / 12 - (1 / 120 - inverse / 252) * inverse) / a) / a
        psi = [self._rate(k, a) - xp.special.polygamma(k, a) for k in range(1, self.n)]
        lower = edge <= -rise
        fall = 2 * NEGLIGIBLE / a
        length = fall / (steep + xp.sqrt(steep * steep + fall * (1 + apart)))

        def integrand(w: Any) -> Any:
            y = edge + w
            t = xp.expm1(y)
            fall = -excess(xp, t, t + 1)
            slope = (fall if self.in_proportion else y) + rise
            return xp.exp(fall * a) * bell(self.n, [slope, *psi])

        total = segment(xp, integrand, xp.where(lower, -length, length), _NODES)
        stirling = (1 / 12 - (1 / 360 - inverse / 1260) * inverse) / a
        return -total * xp.exp(-stirling) * xp.sqrt(a / (2 * math.pi))

    def _rate(self, k: int, a: Any) -> Any:
        """Derivative number ``k > 0`` of ``ln a``, which changes with ``x`` in proportion to it."""
        return -math.prod([-1 / a] * k) * math.factorial(k - 1) if k and self.in_proportion else 0.0

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar`` by the next derivative, ``x_bar`` by the density's."""
        a, x = operands
        density = GammaDensity()(a, x) * where_defined(z)
        if self.n:
            slopes = [self._rate(k, a) - polygamma_of(k, a) for k in range(self.n)]
            first = Log()(x) - x / a + 1 if self.in_proportion else Log()(x)
            density = density * bell(self.n, [first + slopes[0], *slopes[1:]])
        later = GammaIncInA(self.n + 1, self.in_proportion)(a, x)
        return z_bar * (later - density * (x / a) if self.in_proportion else later), z_bar * density


def where_defined(z: Var) -> Var:
    """1, and NaN where ``z`` is: a density's formula has values outside the domain, too."""
    return Where()(IsNan()(z), z.constant(math.nan), z.constant(1))


def falling_slopes(xp: Any, n: int, a: Any, log: Any) -> list[Any]:
    """Derivatives in ``a`` of ``ln(exp(a log) / Γ(a + 1))``, up to number ``n``."""
    slopes = [-xp.special.polygamma(m, a + 1) for m in range(n)]
    return [slopes[0] + log, *slopes[1:]]


def next_slopes(slopes: list[Any], a: Any) -> Any:
    """Change these to those of ``a Γ(a)`` in place of ``Γ(a)``; gives ``1 / a``."""
    rest = 1 / a
    for m in range(len(slopes)):
        slopes[m] = slopes[m] - rest ** (m + 1) * (math.factorial(m) * (-1) ** m)
    return rest
