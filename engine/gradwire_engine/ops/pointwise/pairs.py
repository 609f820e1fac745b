"""Further functions of two numbers: extrema beside NaN, signs, steps, remainders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, macro, register
from gradwire_engine.ops.elementwise import Binary, RealBinary
from gradwire_engine.ops.pointwise.arithmetic import Power
from gradwire_engine.ops.pointwise.comparison import (
    Equal,
    GreaterEqual,
    IsNan,
    LessEqual,
)
from gradwire_engine.ops.pointwise.selection import Extremum, Rint, Sign, Where, zero_unless
from gradwire_engine.ops.promotion import DTYPES, quotient_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class PresentExtremum(Extremum):
    """The one of two that wins a comparison; a number wins over NaN."""

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """All of ``z_bar`` to the winner, the first operand if equal or if both are NaN."""
        wins = self.wins()(*operands) | IsNan()(operands[1])
        return Where().vjp(z_bar, z, wins)[1:]


@register("fmax")
class FMax(PresentExtremum):
    """Larger of two: ``z = max(x, y)``, the number where one is NaN.

    Convention: at a tie the derivative is 1 in ``x`` and 0 in ``y``.
    """

    ufunc = "fmax"
    wins = GreaterEqual


@register("fmin")
class FMin(PresentExtremum):
    """Smaller of two: ``z = min(x, y)``, the number where one is NaN.

    Convention: at a tie the derivative is 1 in ``x`` and 0 in ``y``.
    """

    ufunc = "fmin"
    wins = LessEqual


@register("copysign")
class CopySign(RealBinary):
    """Magnitude of one with the sign of another: ``z = |x| sgn y``, where ``sgn -0 = -1``.

    Convention: derivative 0 in ``x`` at 0, as of ``|x|``; 0 in ``y`` everywhere.
    """

    rounds = False
    ufunc = "copysign"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar sign x sgn y``."""
        x, y = operands
        return z_bar * (Sign()(x) * self(x.constant(1), y)), None


@register("heaviside")
class Heaviside(RealBinary):
    """Step: ``z = 0`` where ``x < 0``, 1 where ``x > 0``, and ``y`` where ``x = 0``.

    Convention: derivative 0 in ``x`` everywhere; 1 in ``y`` where ``x = 0``.
    """

    ufunc = "heaviside"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = z_bar`` where ``x = 0``."""
        x, _ = operands
        return None, zero_unless(Equal()(x, x.constant(0)), z_bar)


@register("fmod")
class FMod(Binary):
    """Remainder with the dividend's sign: ``z = x - y trunc(x / y)``.

    Convention: derivative 1 in ``x`` and ``-trunc(x / y)`` in ``y``, also at the jumps.
    """

    ufunc = "fmod"
    kinds = "iuf"
    flops_per_element = 8

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, ``y_bar = -z_bar (x - z) / y``, which is a whole number."""
        x, y = operands
        return z_bar, -(z_bar * Rint()((x - z) / y))


@macro("float_power")
def float_power(b: Builder, x: Any, y: Any) -> Any:
    """Power: ``z = x ** y`` in double precision at least.  Convention: that of ``power``."""
    pair = b.promote(x, y)
    target = DTYPES["complex128" if pair[0].dtype.kind == "c" else "float64"]
    return Power()(*[b.cast(v, target, weak=v.type.weak) for v in pair])


@macro("divide_no_nan")
def divide_no_nan(b: Builder, x: Any, y: Any) -> Any:
    """Quotient: ``z = x / y``, and 0 where ``y = 0``.  Convention: derivatives 0 there."""
    x, y = b.promote(x, y, rule=quotient_promoted)
    zero = y.constant(0)
    absent = Equal()(y, zero)
    return Where()(absent, zero, x / Where()(absent, y.constant(1), y))
