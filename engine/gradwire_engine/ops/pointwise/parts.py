"""Parts, neighbours and divisors of numbers: fractions, signs, exponents, common multiples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Binary, Predicate, RealBinary, RealUnary
from gradwire_engine.ops.pointwise.comparison import NotEqual
from gradwire_engine.ops.pointwise.exponential import Exp2
from gradwire_engine.ops.pointwise.selection import zero_unless
from gradwire_engine.ops.promotion import BFLOAT16, DTYPES
from gradwire_engine.tape import ArrayType, DType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


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
    """True where ``x`` has a minus sign, also before 0 and NaN."""

    ufunc = "signbit"
    kinds = "iuf"

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array."""
        return cls()(b.array(x))


@register("nextafter")
class NextAfter(RealBinary):
    """The number next to ``x`` on the way to ``y``.

    Convention: derivative 1 in ``x`` where that differs from ``y``, else 0; none in ``y``.
    """

    ufunc = "nextafter"

    def infer(self, *types: ArrayType) -> ArrayType:
        """A dtype of NumPy's."""
        kind = super().infer(*types)
        if kind.dtype == BFLOAT16:
            raise DtypeMismatch("nextafter does not take bfloat16", hint="convert with astype")
        return kind

    def in_single(self, half: DType) -> None:
        """The numbers of the dtype are further apart."""

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar`` where ``x != y``."""
        return zero_unless(NotEqual()(*operands), z_bar), None


@register("binary_exponent", public=False)
class BinaryExponent(RealUnary):
    """The integer ``e`` for which ``x / 2^e`` lies in [1/2, 1); 0 of 0."""

    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """32-bit integers."""
        return super().infer(*types)._replace(dtype=DTYPES["int32"], weak=False)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The second part."""
        return xp.frexp(operands[0])[1]


@register("mantissa", public=False)
class Mantissa(RealUnary):
    """``z = x / 2^e``, in [1/2, 1) or the negative of that."""

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The first part."""
        return xp.frexp(operands[0])[0]

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / 2^e``."""
        return Exp2()(-x.builder.cast(BinaryExponent()(x), x.dtype))
