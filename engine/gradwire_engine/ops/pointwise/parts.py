"""Parts and divisors of numbers: fractions, signs, common divisors and multiples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import macro, register
from gradwire_engine.ops.elementwise import Binary, Predicate
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import IsInf
from gradwire_engine.ops.pointwise.selection import Trunc, Where

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


class Divisibility(Binary):
    """A function of two integers."""

    kinds = "iu"
    differentiable = False
    flops_per_element = 40


@register("gcd")
class Gcd(Divisibility):
    """Greatest common divisor of two integers, not negative; no gradient."""

    ufunc = "gcd"


@register("lcm")
class Lcm(Divisibility):
    """Least common multiple of two integers, not negative; no gradient."""

    ufunc = "lcm"


@register("signbit")
class SignBit(Predicate):
    """Whether ``x`` has a minus sign, also before 0 and NaN."""

    ufunc = "signbit"
    kinds = "iuf"

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array."""
        return cls()(b.array(x))


@macro("modf")
def modf(b: Builder, x: Any) -> Any:
    """A list of the fraction and the whole part of ``x``, both of its sign.

    Convention: the fraction's derivative is 1, also at whole numbers; the whole part has none.
    """
    value = b.inexact(x)
    whole = Trunc()(value)
    infinite = IsInf()(value)
    return [Where()(infinite, b.scalar(0, value.dtype), value - whole), whole]


@macro("fabs")
def fabs(b: Builder, x: Any) -> Any:
    """Absolute value as a float: ``z = |x|``.  Convention: derivative 0 at 0."""
    return Absolute()(b.inexact(x))
