"""Inverses of the incomplete gamma and beta functions, differentiable in all operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary
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


@register("gammaincinv")
class GammaIncInv(SpecialBinary):
    """Inverse of the lower incomplete gamma function in ``x``: ``P(a, z) = y``.

    Convention: infinite slope at ``y = 1``.  Source: DLMF 8.2.4, 8.12.
    """

    ufunc = "special.gammaincinv"
    flops_per_element = 300

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = z_bar / P_x``, ``a_bar = -z_bar P_a / P_x``."""
        one = z.builder.scalar(1, z.dtype)
        return _implicit(z_bar, GammaIncInA(0).vjp(one, z, operands[0], z), 1)


@register("gammainccinv")
class GammaIncCInv(SpecialBinary):
    """Inverse of the upper incomplete gamma function in ``x``: ``Q(a, z) = y``.

    Convention: infinite slope at ``y = 0``.  Source: DLMF 8.2.4, 8.12.
    """

    ufunc = "special.gammainccinv"
    flops_per_element = 300

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = -z_bar / P_x``, ``a_bar = -z_bar P_a / P_x``."""
        one = z.builder.scalar(1, z.dtype)
        return _implicit(z_bar, GammaIncInA(0).vjp(one, z, operands[0], z), -1)


@register("betaincinv", public=False)
class BetaIncInv(Special):
    """Inverse of the incomplete beta function in ``x``: ``I_z(a, b) = y``."""

    ufunc = "special.betaincinv"
    flops_per_element = 300

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = z_bar / I_x``, ``a_bar = -z_bar I_a / I_x``, and so in ``b``."""
        a, b, _ = operands
        one = z.builder.scalar(1, z.dtype)
        return _implicit(z_bar, BetaIncInAB(0, 0).vjp(one, z, a, b, z), 1)


@register("betainccinv", public=False)
class BetaIncCInv(Special):
    """Inverse of the complementary incomplete beta function in ``x``: ``I_z(a, b) = 1 - y``."""

    ufunc = "special.betainccinv"
    flops_per_element = 300

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = -z_bar / I_x``, ``a_bar = -z_bar I_a / I_x``, and so in ``b``."""
        a, b, _ = operands
        one = z.builder.scalar(1, z.dtype)
        return _implicit(z_bar, BetaIncInAB(0, 0).vjp(one, z, a, b, z), -1)
