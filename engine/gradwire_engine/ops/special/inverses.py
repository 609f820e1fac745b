"""Inverses of the incomplete gamma and beta functions, differentiable in all operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.incomplete import BetaIncInAB, GammaIncInA

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _implicit(z_bar: Var, slopes: Cotangents, sign: int) -> Cotangents:
    """Cotangents of ``(p, …, y)`` where ``F(p, …, z) = ± y``, from the slopes of ``F``, last in z.

    ``∂z/∂p = -F_p / F_z`` and ``∂z/∂y = ± 1 / F_z``.  Source: DLMF 1.5.
    """
    *in_parameters, in_z = slopes
    assert in_z is not None
    y_bar = z_bar / in_z
    bars = [None if slope is None else -(y_bar * slope) for slope in in_parameters]
    return *bars, y_bar if sign > 0 else -y_bar


class _GammaInverse(SpecialBinary):
    """An inverse in ``x``."""

    flops_per_element = 300
    sign: ClassVar[int]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = ± z_bar / P_x``, ``a_bar = -z_bar P_a / P_x``."""
        one = z.builder.scalar(1, z.dtype)
        return _implicit(z_bar, GammaIncInA(0).vjp(one, z, operands[0], z), self.sign)


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
        one = z.builder.scalar(1, z.dtype)
        in_p, in_q, in_u = BetaIncInAB(0, 0).vjp(one, z, p, q, u)
        assert in_p is not None
        assert in_q is not None
        in_a, in_b = Where()(near, in_p, -in_q), Where()(near, in_q, -in_p)
        return _implicit(z_bar, (in_a, in_b, in_u), self.sign)


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
