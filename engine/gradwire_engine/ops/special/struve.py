"""Struve functions of real order, differentiable in the argument; the order is held constant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.exponential import Exp, XLogY
from gradwire_engine.ops.special.gamma import RGamma
from gradwire_engine.tape import Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _difference(v: Var, x: Var) -> Var:
    """``(x / 2)^v / (sqrt(π) Γ(v + 3/2))``, by which the recurrences differ from Bessel's."""
    return Exp()(XLogY()(v, x * 0.5)) * RGamma()(v + 1.5) * (1 / math.sqrt(math.pi))


@register("struve")
class Struve(SpecialBinary):
    """Struve function: ``z = H_v(x)``, no derivative in ``v``.

    The slope is NaN for ``x < 0``, where only whole orders have a value.
    Source: DLMF 11.2.1, 11.4.24.
    """

    ufunc = "special.struve"
    flops_per_element = 100

    def holds(self, result: Type) -> bool:
        """The order."""
        return True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (H_(v-1) - H_(v+1) + (x/2)^v / (sqrt(π) Γ(v + 3/2))) / 2``."""
        v, x = StopGradient()(operands[0]), operands[1]
        slope = self(v - 1, x) - self(v + 1, x) + _difference(v, x)
        return None, z_bar * (slope * 0.5)


@register("modstruve")
class ModStruve(SpecialBinary):
    """Modified Struve function: ``z = L_v(x)``, no derivative in ``v``.

    The slope is NaN for ``x < 0``, where only whole orders have a value.
    Source: DLMF 11.2.2, 11.4.26.
    """

    ufunc = "special.modstruve"
    flops_per_element = 100

    def holds(self, result: Type) -> bool:
        """The order."""
        return True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (L_(v-1) + L_(v+1) + (x/2)^v / (sqrt(π) Γ(v + 3/2))) / 2``."""
        v, x = StopGradient()(operands[0]), operands[1]
        slope = self(v - 1, x) + self(v + 1, x) + _difference(v, x)
        return None, z_bar * (slope * 0.5)
