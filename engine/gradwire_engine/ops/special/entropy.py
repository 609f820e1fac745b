"""Terms of entropies and divergences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary
from gradwire_engine.ops.pointwise.comparison import LogicalNot
from gradwire_engine.ops.pointwise.exponential import Log
from gradwire_engine.ops.pointwise.selection import Maximum, Where, zero_unless
from gradwire_engine.ops.promotion import finfo

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("entr")
class Entr(SpecialUnary):
    """Term of the entropy: ``z = -x ln x``, 0 at 0 and -inf below.

    Convention: infinite slope at 0.
    """

    ufunc = "special.entr"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -(1 + ln x)``."""
        return -(Log()(x) + 1)


@register("rel_entr")
class RelEntr(SpecialBinary):
    """Term of the relative entropy: ``z = x ln(x / y)``, 0 where ``x`` is 0, inf outside.

    Convention: derivatives 0 where both are 0; slope -inf in ``x`` where it alone is.
    """

    ufunc = "special.rel_entr"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (1 + ln(x / y))``, ``y_bar = -z_bar x / y``."""
        some, ratio, log = _ratio(*operands)
        return z_bar * zero_unless(some, log + 1), z_bar * zero_unless(some, -ratio)


@register("kl_div")
class KlDiv(SpecialBinary):
    """Term of a divergence: ``z = x ln(x / y) - x + y``, ``y`` where ``x`` is 0, inf outside.

    Convention: derivatives 0 where both are 0; slope -inf in ``x`` where it alone is.
    """

    ufunc = "special.kl_div"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ln(x / y)``, ``y_bar = z_bar (1 - x / y)``."""
        some, ratio, log = _ratio(*operands)
        return z_bar * zero_unless(some, log), z_bar * zero_unless(some, 1 - ratio)


def _ratio(x: Var, y: Var) -> tuple[Var, Var, Var]:
    """Where not both are 0; ``x / y``, else 1, and its logarithm, also where it underflows."""
    none = x.equals(0) & y.equals(0)
    one = x.constant(1)
    x, y = Where()(none, one, x), Where()(none, one, y)
    ratio = x / y
    size = Maximum()(ratio, y / x)
    log = Where()(size.exceeds(1 / finfo(x.dtype).tiny), Log()(x) - Log()(y), Log()(ratio))
    return LogicalNot()(none), ratio, log
