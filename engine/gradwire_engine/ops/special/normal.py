"""The normal distribution's function, its logarithm and inverses, Owen's function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary
from gradwire_engine.ops.pointwise.exponential import Exp
from gradwire_engine.ops.special.error_functions import Erf
from gradwire_engine.ops.special.quadratures import segment
from gradwire_engine.ops.special.tails import bell, gaussian, settled

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

ROOT_2 = math.sqrt(2)
ROOT_2_PI = math.sqrt(2 * math.pi)

#: Nodes of a quadrature, and widths of a bell at which it ends.
_NODES, _REACH = 24, 9.0


def _density(x: Var) -> Var:
    """``φ(x) = exp(-x² / 2) / sqrt(2π)``."""
    return bell(x, -0.5) * (1 / ROOT_2_PI)


@register("ndtr")
class Ndtr(SpecialUnary):
    """Distribution function of the standard normal: ``z = Φ(x) = erfc(-x / sqrt 2) / 2``.

    Source: DLMF 7.1.
    """

    ufunc = "special.ndtr"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = φ(x)``."""
        return _density(x)


@register("ndtri")
class Ndtri(SpecialUnary):
    """Quantile of the standard normal: ``Φ(z) = x``; infinite slope at 0 and 1."""

    ufunc = "special.ndtri"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / φ(z)``."""
        return Exp()(z * z * 0.5) * ROOT_2_PI


@register("log_ndtr")
class LogNdtr(SpecialUnary):
    """Logarithm of the normal distribution function, exact far below 0: ``z = ln Φ(x)``."""

    ufunc = "special.log_ndtr"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = φ(x) / Φ(x)``."""
        return NormalHazard()(x)


@register("normal_hazard", public=False)
class NormalHazard(SpecialUnary):
    """Slope of ``ln Φ``: ``z = φ(x) / Φ(x)``, close to ``-x`` far below 0."""

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """``sqrt(2 / π) / erfcx(-x / sqrt 2)``, in which nothing cancels or underflows early."""
        return math.sqrt(2 / math.pi) / xp.special.erfcx(operands[0] * (-1 / ROOT_2))

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -z (x + z)``, far below 0 by the series of ``1 / z``."""
        scaled = x * (-1 / ROOT_2)
        near = settled(x, z * (x + z) * -ROOT_2)
        slope = gaussian(scaled, z, near, -1, "right", -ROOT_2)
        return slope * (1 / ROOT_2)


@register("owens_t")
class OwensT(SpecialBinary):
    """Owen's function: ``z = T(h, a) = ∫ exp(-h² (1 + t²) / 2) / (1 + t²) dt / 2π``, 0 to ``a``.

    Source: Owen, "Tables for computing bivariate normal probabilities" (1956).
    """

    workspace = 8.0
    flops_per_element = 300

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By Gauss's formula for ``|a| ≤ 1``; larger ones are mirrored, in which nothing cancels.

        ``T(h, a) = (Q(h) + Q(ah)) / 2 - Q(h) Q(ah) - T(ah, 1 / a)`` for positive ones, with the
        normal probabilities ``Q`` beyond.
        """
        h, a = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        h, size = xp.abs(h), xp.abs(a)
        beyond = size > 1
        outer = xp.where(h == 0, 0, h * size)
        edge, side = xp.where(beyond, 1 / size, size), xp.where(beyond, outer, h)

        def integrand(t: Any) -> Any:
            square = t * t + 1
            return xp.exp(side * side * square * -0.5) / square

        z = segment(xp, integrand, xp.minimum(edge, _REACH / side), _NODES) / (2 * math.pi)
        p, q = xp.special.ndtr(-h), xp.special.ndtr(-outer)
        z = xp.where(beyond, p * 0.5 + q * (0.5 - p) - z, z)
        return (z * xp.sign(a))[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``h_bar = -z_bar φ(h) erf(a h / sqrt 2) / 2``, ``a_bar`` by the integrand at ``a``."""
        h, a = operands
        in_h = _density(h) * Erf()(a * h * (1 / ROOT_2)) * -0.5
        square = a * a + 1
        return z_bar * in_h, z_bar * (Exp()(h * h * square * -0.5) / (square * (2 * math.pi)))


@register("ndtri_exp")
class NdtriExp(SpecialUnary):
    """Normal quantile of a logarithm: ``ln Φ(z) = x``, exact where ``Φ(z)`` would be 0."""

    ufunc = "special.ndtri_exp"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar Φ(z) / φ(z)``."""
        return (z_bar / NormalHazard()(z),)
