"""Struve functions of real order, differentiable in the argument; the order is held constant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, Square
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.gamma import RGamma
from gradwire_engine.tape import Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


#: Below 1, so many terms of the power series have all digits.
_TERMS = 10


def _slope(op: SpecialBinary, sign: int, z: Var, v: Var, x: Var) -> Var:
    """By the recurrence whose terms do not cancel far out, near 0 by the power series.

    There terms of the recurrences are infinite at higher orders.
    """
    half = x * 0.5
    power = Power()(half, v)
    if sign > 0:
        added = power * RGamma()(v + 1.5) * (1 / math.sqrt(math.pi))
        far = (op(v - 1, x) + op(v + 1, x) + added) * 0.5
    else:
        far = op(v - 1, x) - v / x * z
    square = Square()(half) * sign
    total = square * 0
    for k in range(_TERMS - 1, -1, -1):
        weight = (v + (2 * k + 1)) * RGamma()(v + (k + 1.5)) * (0.5 / math.gamma(k + 1.5))
        total = total * square + weight
    return Where()(Absolute()(x).exceeds(1), far, power * total)


class OfHeldOrder(SpecialBinary):
    """A function that is differentiable in its argument alone.

    Its slope is ``H_(v-1) - v H_v / x``, or ``(L_(v-1) + L_(v+1) + (x/2)^v / (sqrt(π) Γ(v + 3/2)))
    / 2`` of a ``sign`` of 1.
    """

    flops_per_element = 100
    sign: ClassVar[int]

    def holds(self, result: Type) -> bool:
        """The order."""
        return True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar dz/dx``."""
        v, x = StopGradient()(operands[0]), operands[1]
        return None, z_bar * _slope(self, self.sign, z, v, x)


@register("struve")
class Struve(OfHeldOrder):
    """Struve function: ``z = H_v(x)``, no derivative in ``v``.

    For ``x < 0`` only whole orders have a value.
    Source: DLMF 11.2.1, 11.4.27.
    """

    ufunc = "special.struve"
    sign = -1


@register("modstruve")
class ModStruve(OfHeldOrder):
    """Modified Struve function: ``z = L_v(x)``, no derivative in ``v``.

    For ``x < 0`` only whole orders have a value.
    Source: DLMF 11.2.2, 11.4.26.
    """

    ufunc = "special.modstruve"
    sign = 1
