"""Exponential, trigonometric and hyperbolic integrals, the dilogarithm, Lambert's function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static, register
from gradwire_engine.ops.elementwise import Special, SpecialUnary
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import LessEqual
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Where, zero_unless
from gradwire_engine.ops.pointwise.trigonometric import Cos, Cosh, Sin, Sinh, SphericalJn
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.ops.special.hypergeometric import Hyp0f1, Hyp2f1
from gradwire_engine.ops.special.spherical import OfWholeOrder, SphericalYn
from gradwire_engine.ops.special.tails import settled
from gradwire_engine.tape import FLOATING

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("expi")
class Expi(SpecialUnary):
    """Exponential integral: ``z = Ei(x) = ∫ exp(t) / t dt`` from -inf to ``x``; -inf at 0.

    Source: DLMF 6.2.5.
    """

    ufunc = "special.expi"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = exp(x) / x``."""
        return Exp()(x) / x


@register("exp1")
class Exp1(SpecialUnary):
    """Exponential integral: ``z = E₁(x) = ∫ exp(-t) / t dt`` from ``x`` to inf; inf at 0.

    NaN for real ``x < 0``.  Source: DLMF 6.2.1.
    """

    ufunc = "special.exp1"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -(exp(-x) / x)``."""
        return -(Exp()(-x) / x)


@register("expn")
class Expn(OfWholeOrder):
    """Exponential integral of static order: ``z = Eₙ(x) = ∫ exp(-x t) / tⁿ dt`` from 1 to inf.

    NaN where ``x < 0``.  Source: DLMF 8.19.2, 8.19.13.
    """

    n: int

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -Eₙ₋₁(x)``; ``E₀ = exp(-x) / x``."""
        below = Expn(self.n - 1)(x) if self.n else z + z / x
        return -below


@register("spence")
class Spence(SpecialUnary):
    """Dilogarithm of ``1 - x``: ``z = ∫ ln t / (1 - t) dt`` from 1 to ``x``.

    Infinite slope at 0, NaN below.  Source: DLMF 25.12.2.
    """

    ufunc = "special.spence"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = ln x / (1 - x)``, near 1 by ``-₂F₁(1, 1; 2; 1 - x)``, which it is."""
        y = 1 - x
        near = LessEqual()(Absolute()(y), y.constant(0.5))
        safe = Where()(near, x.constant(0.5), x)
        one, two = (x.constant(value) for value in (1, 2))
        beside = -Hyp2f1()(one, one, two, zero_unless(near, y))
        far = settled(x, Log()(safe) / (1 - safe))
        return Where()(near, beside, far)


#: ``1/e`` in two parts; coefficients of Lambert's function in ``p = ± sqrt(2 (e x + 1))``, and
#: how far from ``-1/e`` they are enough.
_PER_E = 0.36787944117144233, -1.2428753672788363e-17
_LAMBERT = (
    *(-1.0, 1.0, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505, 680863 / 43545600),
    *(-1963 / 204120, 226287557 / 37623398400, -5776369 / 1515591000),
)
_AT_BRANCH = 1e-4


class OfPair(SpecialUnary):
    """One result of a function of SciPy's that gives two."""

    workspace = 1.0
    pair: ClassVar[str]
    which: ClassVar[int]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, less the other result."""
        return getattr(xp.special, self.pair)(operands[0])[self.which]


@register("fresnel_s", public=False)
class FresnelS(OfPair):
    """``z = ∫ sin(π t² / 2) dt`` from 0 to ``x``.  Source: DLMF 7.2.8."""

    pair, which = "fresnel", 0
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = sin(π x² / 2)``."""
        return Sin()(x * x * (math.pi / 2))


@register("fresnel_c", public=False)
class FresnelC(OfPair):
    """``z = ∫ cos(π t² / 2) dt`` from 0 to ``x``.  Source: DLMF 7.2.7."""

    pair, which = "fresnel", 1
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = cos(π x² / 2)``."""
        return Cos()(x * x * (math.pi / 2))


@register("sine_integral", public=False)
class SineIntegral(OfPair):
    """``z = ∫ sin(t) / t dt`` from 0 to ``x``.  Source: DLMF 6.2.9."""

    pair, which = "sici", 0

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = sin(x) / x = j₀(x)``."""
        return SphericalJn(0)(x)


@register("cosine_integral", public=False)
class CosineIntegral(OfPair):
    """``z = γ + ln x + ∫ (cos t - 1) / t dt`` from 0 to ``x``.  Source: DLMF 6.2.11."""

    pair, which = "sici", 1

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = cos(x) / x = -y₀(x)``."""
        return -SphericalYn(0)(x)


@register("hyperbolic_sine_integral", public=False)
class HyperbolicSineIntegral(OfPair):
    """``z = ∫ sinh(t) / t dt`` from 0 to ``x``.  Source: DLMF 6.2.15."""

    pair, which = "shichi", 0

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = sinh(x) / x``, near 0 by ``₀F₁(; 3/2; x² / 4)``, which it is."""
        one = x.constant(1)
        near = LessEqual()(Absolute()(x), one)
        safe = Where()(near, one, x)
        square = zero_unless(near, x * x * 0.25)
        beside = Hyp0f1()(x.constant(1.5), square)
        return Where()(near, beside, Sinh()(safe) / safe)


@register("hyperbolic_cosine_integral", public=False)
class HyperbolicCosineIntegral(OfPair):
    """``z = γ + ln x + ∫ (cosh t - 1) / t dt`` from 0 to ``x``.  Source: DLMF 6.2.16."""

    pair, which = "shichi", 1

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = cosh(x) / x``."""
        return Cosh()(x) / x


def _lower_branch(xp: Any, z: Any, x: Any) -> Any:
    """The real branch below -1, from a rough ``z``: by its series at ``-1/e``, else by Newton.

    Source: DLMF 4.13.6, of the equation's logarithm.
    """
    x = x.astype("float64")
    gap = (x + _PER_E[0]) + _PER_E[1]
    p = -xp.sqrt(2 * math.e * xp.maximum(gap, 0))
    total = xp.zeros_like(p)
    for coefficient in reversed(_LAMBERT):
        total = total * p + coefficient
    inside = (x < 0) & (gap > _AT_BRANCH)
    log = xp.log(xp.where(inside, -x, 0.1))
    w = xp.where(inside & (z < -1), z, log - xp.log(-log))
    w = w - (xp.log(-w) + w - log) * w / (1 + w)
    return xp.where((gap >= 0) & (gap <= _AT_BRANCH), total, xp.where(inside, w, z))


@register("lambertw")
class LambertW(Special):
    """Lambert's function: ``z exp(z) = x``, of real ``x`` real, of complex ``x`` on any branch.

    The branch ``k`` is static. Of real ``x`` it is 0 for ``z ≥ -1``, or -1 for ``z ≤ -1`` with
    ``x < 0``; NaN for ``x < -1/e``, where SciPy's answer is complex. Infinite slope at ``-1/e``.
    Source: DLMF 4.13.1.
    """

    workspace = 2.2
    k: int
    kinds = "fc"
    flops_per_element = 100

    @classmethod
    def record(cls, b: Builder, z: Any, k: Static = 0) -> Any:
        """Record with a static branch."""
        (x,) = b.promote(z, rule=special_promoted)
        branch = integer(k, "k")
        if branch not in (0, -1) and x.dtype.kind != "c":
            raise BadArgument(
                f"lambertw has the real branches 0 and -1, got {branch}",
                hint="the others are of complex numbers: convert with astype",
            )
        return cls(branch)(x)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine; of real numbers less what is not real."""
        (x,) = operands
        z = xp.special.lambertw(x, self.k)
        if x.dtype.kind in FLOATING:
            z = xp.where(z.imag == 0, z.real, math.nan)
            if self.k:
                z = _lower_branch(xp, z, x)
        return xp.asarray(z, dtype=x.dtype)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = exp(-z) / (1 + z)``."""
        root = Exp()(z * -0.5)
        return root / (z + 1) * root
