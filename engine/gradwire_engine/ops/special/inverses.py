"""Inverses of the incomplete gamma and beta functions, differentiable in all operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary
from gradwire_engine.ops.pointwise.arithmetic import Power
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.densities import BetaDensity, GammaDensity
from gradwire_engine.ops.special.gamma import GammaLn
from gradwire_engine.ops.special.incomplete import LARGE, GammaIncInA
from gradwire_engine.ops.special.incomplete_beta import BetaIncInAB

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _implicit(
    z_bar: Var, z: Var, slopes: tuple[Var, ...], tail: tuple[Var, Var, Var], sign: int
) -> tuple[Var, ...]:
    """Cotangents of ``(p, …, y)`` where ``F(p, …, z) = ± y``, from the slopes of ``F``, last in z.

    ``∂z/∂p = -F_p / F_z`` and ``∂z/∂y = ± 1 / F_z``; where ``z`` underflows, by
    ``F = y = scale zᵃ``, with ``tail = (y, a, ln scale)``.  Source: DLMF 1.5.
    """
    *in_parameters, in_z = slopes
    in_y = z_bar / in_z
    bars = [-(in_y * slope) for slope in in_parameters]
    y, a, ln_scale = tail
    underflows = z.equals(0) & y.exceeds(0)
    inverse = Exp()(-ln_scale)
    share = Where()(underflows, y * inverse, y.constant(1))
    least = Power()(share, 1 / a - 1) * inverse / a
    in_y = Where()(underflows, z_bar * least, in_y)
    return *bars, in_y if sign > 0 else -in_y


class _GammaInverse(SpecialBinary):
    """An inverse in ``x``."""

    flops_per_element = 300
    sign: ClassVar[int]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = ± z_bar / P_x``, ``a_bar = -z_bar P_a / P_x``."""
        a, y = operands
        tail = (y if self.sign > 0 else 1 - y), a, -GammaLn()(a + 1)
        in_z = GammaDensity()(a, z)
        a_bar, y_bar = _implicit(z_bar, z, (GammaIncInA(1)(a, z), in_z), tail, self.sign)
        # Of large a nearly z / a, from which what is left in proportion to a has all digits.
        apart = GammaIncInA(1, in_proportion=True)(a, z) / in_z
        return Where()(a.exceeds(LARGE), z_bar * (z / a - apart), a_bar), y_bar


@register("gammaincinv")
class GammaIncInv(_GammaInverse):
    """Inverse of the lower incomplete gamma function in ``x``: ``P(a, z) = y``.

    Convention: infinite slope at ``y = 1``.  Source: DLMF 8.2.4, 8.12.
    """

    ufunc = "special.gammaincinv"
    sign = 1


@register("gammainccinv")
class GammaIncCInv(_GammaInverse):
    """Inverse of the upper incomplete gamma function in ``x``: ``Q(a, z) = y``.

    Convention: infinite slope at ``y = 0``.  Source: DLMF 8.2.4, 8.12.
    """

    ufunc = "special.gammainccinv"
    sign = -1


class _BetaInverse(Special):
    """An inverse in ``x``: in slopes the smaller of ``z`` and ``1 - z``, which has more digits."""

    flops_per_element = 300
    sign: ClassVar[int]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, whose least number stands for all below."""
        z = super().kernel(xp, *operands)
        return xp.where(z <= 1.001 * xp.finfo(z.dtype).tiny, 0, z)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = ± z_bar / I_x``, ``a_bar = -z_bar I_a / I_x``, and so in ``b``."""
        a, b, y = operands
        other = BetaIncCInv if self.sign > 0 else BetaIncInv
        rest = other()(b, a, y)
        near = Less()(z, rest)
        p, q, u = (Where()(near, *pair) for pair in ((a, b), (b, a), (z, rest)))
        in_p, in_q = BetaIncInAB(1, 0)(p, q, u), BetaIncInAB(0, 1)(p, q, u)
        in_a, in_b = Where()(near, in_p, -in_q), Where()(near, in_q, -in_p)
        tail = (y if self.sign > 0 else 1 - y), a, -(BetaLn()(a, b) + Log()(a))
        return _implicit(z_bar, z, (in_a, in_b, BetaDensity()(p, q, u)), tail, self.sign)


@register("betaincinv", public=False)
class BetaIncInv(_BetaInverse):
    """Inverse of the incomplete beta function in ``x``: ``I_z(a, b) = y``."""

    ufunc = "special.betaincinv"
    sign = 1


@register("betainccinv", public=False)
class BetaIncCInv(_BetaInverse):
    """Inverse of the complementary incomplete beta function in ``x``: ``I_z(a, b) = 1 - y``."""

    ufunc = "special.betainccinv"
    sign = -1
