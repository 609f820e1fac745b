"""Airy functions and their derivatives, also scaled so that they neither grow nor vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import Cotangents, macro, register
from gradwire_engine.ops.elementwise import SpecialUnary, conj
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.selection import Maximum
from gradwire_engine.ops.promotion import special_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


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

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """By ``Ai'`` and ``Ai'' = x Ai``, so ``Bi``; and the slope ``± sqrt x`` of the scale."""
        (x,) = operands
        first = self.which % 2 == 0
        partner = Airy(self.which + (1 if first else -1), self.scaled)(x)
        slope = partner if first else x * partner
        if self.scaled:
            growth = Sqrt()(Maximum()(x, x.builder.scalar(0, x.dtype))) * z
            slope = slope + growth if self.which < 2 else slope - growth
        return (z_bar * conj(slope),)


@macro("airy")
def airy(b: Builder, z: Any) -> Any:
    """Airy functions and their derivatives, a list: ``Ai``, ``Ai'``, ``Bi``, ``Bi'``.

    The solutions of ``w'' = z w`` that fall and that grow.  Source: DLMF 9.2.1, 9.2.2.
    """
    (x,) = b.promote(z, rule=special_promoted)
    return [Airy(which)(x) for which in range(4)]


@macro("airye")
def airye(b: Builder, z: Any) -> Any:
    """Scaled Airy functions of real ``z``, a list: ``Ai``, ``Ai'``, ``Bi``, ``Bi'``.

    The first two times ``exp ζ``, the others over it, ``ζ = 2/3 z^(3/2)``; below 0 the first two
    are NaN, the others not scaled.
    Convention: the kink of the scale at 0 counts as flat.  Source: DLMF 9.2.1, 9.7.1.
    """
    (x,) = b.promote(z, rule=special_promoted)
    if x.dtype.kind == "c":
        raise DtypeMismatch(f"airye does not take {x.dtype.name}", hint="its scale is not smooth")
    return [Airy(which, scaled=True)(x) for which in range(4)]
