"""Airy functions and their derivatives, also scaled so that they neither grow nor vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import SpecialUnary
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.selection import Maximum
from gradwire_engine.ops.special.tails import airy

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


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
        return routine(operands[0])[self.which]

    def slope(self, z: Var, x: Var) -> Var:
        """By ``Ai'`` and ``Ai'' = x Ai``, so ``Bi``; and the slope ``± sqrt x`` of the scale."""
        first = self.which % 2 == 0
        partner = Airy(self.which + (1 if first else -1), self.scaled)(x)
        slope = partner if first else x * partner
        if self.scaled:
            growth = Sqrt()(Maximum()(x, x.constant(0))) * z
            slope = slope + growth if self.which < 2 else slope - growth
            slope = airy(x, z, slope, self.which)
        return slope
