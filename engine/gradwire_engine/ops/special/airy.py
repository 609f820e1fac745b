"""Airy functions and their derivatives, also scaled so that they neither grow nor vanish."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialUnary, conj
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.selection import Maximum
from gradwire_engine.ops.special.tails import airy, airy_factors

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


#: From here on, two terms of the scaled functions' series have all digits.
_LARGE = 1e6


@register("airy_function", public=False)
class Airy(SpecialUnary):
    """One of ``Ai``, ``Ai'``, ``Bi``, ``Bi'``; ``scaled`` by ``exp(± 2/3 x^(3/2))``, ``x > 0``."""

    workspace = 3.0
    which: int
    scaled: bool = False
    kinds = "fc"
    flops_per_element = 100

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, less the other three."""
        routine = xp.special.airye if self.scaled else xp.special.airy
        (x,) = operands
        z = routine(x)[self.which]
        if not self.scaled:
            return z
        # Beyond 10⁶ the routine has none; the series has two terms there.
        large = xp.where(x > _LARGE, x, _LARGE)
        first = airy_factors(self.which)[0] * (1.5 if self.which > 1 else -1.5)
        power = large ** (0.25 if self.which % 2 else -0.25)
        scale = (1, 1, 2, 2)[self.which] * (-1 if self.which == 1 else 1) / (2 * math.pi**0.5)
        series = scale * power * (1 + first / large**1.5)
        return xp.where(x > _LARGE, series, z).astype(x.dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """By ``Ai'`` and ``Ai'' = x Ai``, so ``Bi``; and the slope ``± sqrt x`` of the scale."""
        (x,) = operands
        first = self.which % 2 == 0
        partner = Airy(self.which + (1 if first else -1), self.scaled)(x)
        slope = partner if first else x * partner
        if self.scaled:
            growth = Sqrt()(Maximum()(x, x.builder.scalar(0, x.dtype))) * z
            slope = slope + growth if self.which < 2 else slope - growth
            slope = airy(x, z, slope, self.which)
        return (z_bar * conj(slope),)
