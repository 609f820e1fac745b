"""Arithmetic: sums, products, quotients, powers, absolute values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import Cotangents, macro, register
from gradwire_engine.ops.elementwise import Binary, InexactBinary, InexactUnary, Unary, conj
from gradwire_engine.ops.promotion import quotient_promoted, real_of
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("add")
class Add(Binary):
    """Sum: ``z = x + y``."""

    template = "{0} + {1}"
    ufunc = "add"
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, ``y_bar = z_bar``."""
        return z_bar, z_bar


@register("subtract", "sub")
class Subtract(Binary):
    """Difference: ``z = x - y``; not for booleans."""

    template = "{0} - {1}"
    ufunc = "subtract"
    kinds = "iufc"
    linear = True

    def cotangent(self, number: int, z_bar: Var, z: Var, *operands: Var) -> Var:
        """``x_bar = z_bar``, ``y_bar = -z_bar``."""
        return -z_bar if number else z_bar


@register("excess", public=False)
class Excess(Subtract):
    """The excess of one exponent above another: ``z = x - y``, and 0 where both are ``inf``."""

    template = ""
    ufunc = "excess"
    scalar = "0.0 if {0} == {1} and {0} > 0.0 else {0} - {1}"
    kinds = "f"


@register("multiply", "mul")
class Multiply(Binary):
    """Product: ``z = x y``."""

    template = "{0} * {1}"
    ufunc = "multiply"

    def cotangent(self, number: int, z_bar: Var, z: Var, *operands: Var) -> Var:
        """``x_bar = z_bar y*``, ``y_bar = z_bar x*``."""
        return z_bar * conj(operands[1 - number])


@register("divide", "true_divide", "div")
class Divide(InexactBinary):
    """Quotient: ``z = x / y``.  Infinite at ``y = 0``, with an entry in ``nonfinite``."""

    template = "{0} / {1}"
    ufunc = "divide"

    @classmethod
    def record(cls, b: Builder, x: Any, y: Any) -> Any:
        """Record on two arrays, promoted; integers divide in float64."""
        return cls()(*b.promote(x, y, rule=quotient_promoted))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / y*``, ``y_bar = -x_bar z*``."""
        x_bar = z_bar / conj(operands[1])
        return x_bar, -(x_bar * conj(z))


@register("negative", "neg")
class Negative(Unary):
    """Opposite: ``z = -x``; not for booleans."""

    rounds = False
    template = "-{0}"
    ufunc = "negative"
    kinds = "iufc"
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar``."""
        return (-z_bar,)


@macro("positive")
def positive(b: Builder, x: Any) -> Any:
    """The array itself: ``z = +x``."""
    return b.array(x)


@register("power", "pow")
class Power(Binary):
    """Power: ``z = x ** y``.

    Convention: ``x ** 0`` has derivative 0 in ``x`` everywhere; the derivative in ``y`` is 0 where
    ``x <= 0``, as those of it, which have a warning.  Integers stay integers, with exponents of at
    least 0.  Source: DLMF 4.2.26.
    """

    template = "{0} ** {1}"
    ufunc = "power"
    scalar = "math.pow({0}, {1})"
    flops_per_element = 20

    def infer(self, *types: ArrayType) -> ArrayType:
        """As any binary operation; NumPy has no power of booleans."""
        if types[0].dtype.kind == "b":
            raise DtypeMismatch("power does not take bool", hint="convert with astype")
        return super().infer(*types)

    def cotangent(self, number: int, z_bar: Var, z: Var, *operands: Var) -> Var:
        """``x_bar = z_bar (y x**(y-1))*``, ``y_bar = z_bar (z log x)*``, with the conventions."""
        x, y = operands
        return z_bar * conj(in_exponent(x, z)) if number else in_base(z_bar, x, y)


def in_base(z_bar: Var, x: Var, y: Var) -> Var:
    """``z_bar (y x**(y-1))*``, 0 where ``y`` is; of a number in the text without a choice."""
    from gradwire_engine.ops.constants import StopGradient
    from gradwire_engine.ops.pointwise.comparison import IsFinite, Less, LessEqual, LogicalNot
    from gradwire_engine.ops.pointwise.selection import Where
    from gradwire_engine.ops.rules import kinked

    b = y.builder
    known = b.number(y)
    if known is not None:
        if not known:
            return z_bar * y
        return z_bar * conj(y * Power()(x, y.constant(known - 1)))
    if y.dtype.kind == "f":
        # Where a derivative in the exponent is 0 by convention, so is this one's.
        low = x.equals(0) & LessEqual()(y, y.constant(1))
        z_bar = kinked(z_bar, Less()(x, x.constant(0)) | low, y)
        y = Where()(LessEqual()(x, x.constant(0)), StopGradient()(y), y)
    power = Power()(x, y - 1)
    # 0 times what overflows, as 0**-1, is 0; of other powers the derivative in y remains.
    hidden = y.equals(0) & LogicalNot()(IsFinite()(power))
    return z_bar * conj(y * Where()(hidden, y.constant(0), power))


def in_exponent(x: Var, z: Var) -> Var:
    """``z log x``, 0 where ``x`` is 0 or negative."""
    from gradwire_engine.ops.pointwise.comparison import LessEqual
    from gradwire_engine.ops.pointwise.exponential import Log
    from gradwire_engine.ops.pointwise.selection import Where

    one = x.constant(1)
    if x.dtype.kind == "c":
        return z * Log()(Where()(x.equals(0), one, x))
    zero = x.constant(0)
    outside = LessEqual()(x, zero)
    return Where()(outside, zero, z * Log()(Where()(outside, one, x)))


@register("square")
class Square(Unary):
    """Square: ``z = x x``."""

    template = "{0} * {0}"
    ufunc = "square"
    kinds = "iufc"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = 2 x* z_bar``."""
        return (z_bar * (2 * conj(operands[0])),)


@register("sqrt")
class Sqrt(InexactUnary):
    """Square root: ``z = x ** (1/2)``.  Convention: infinite slope at 0, NaN below for reals."""

    ufunc = "sqrt"
    scalar = "math.sqrt({0})"
    flops_per_element = 4

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = (z_bar / 2) / z*``: half of a constant is one."""
        return (z_bar * 0.5 / conj(z),)


@register("reciprocal")
class Reciprocal(InexactUnary):
    """Reciprocal: ``z = 1 / x``; of integers a float, as ``1 / x`` is."""

    ufunc = "reciprocal"
    scalar = "1.0 / {0}"
    flops_per_element = 1

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -z²``."""
        return -Square()(z)


@register("absolute", "abs")
class Absolute(Unary):
    """Absolute value: ``z = |x|``, real for complex ``x``.  Convention: derivative 0 at 0."""

    rounds = False
    ufunc = "absolute"
    scalar = "math.fabs({0})"

    def infer(self, *types: ArrayType) -> ArrayType:
        """The real part's dtype."""
        (x,) = types
        return x if x.dtype.kind != "c" else ArrayType(real_of(x.dtype), x.shape, x.weak)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar sign x``."""
        from gradwire_engine.ops.pointwise.selection import Sign
        from gradwire_engine.ops.rules import radial

        (x,) = operands
        return (radial(x.builder.cast(z_bar, x.dtype) * Sign()(x), z_bar, z, x),)


@register("floor_divide")
class FloorDivide(Binary):
    """Quotient rounded down: ``z = floor(x / y)``; piecewise constant, so no gradient."""

    template = "{0} // {1}"
    ufunc = "floor_divide"
    kinds = "iuf"
    differentiable = False


@register("remainder", "mod")
class Remainder(Binary):
    """Remainder with the divisor's sign: ``z = x - y floor(x / y)``.

    Convention: derivative 1 in ``x`` and ``-floor(x / y)`` in ``y``, also at the jumps.
    """

    template = "{0} % {1}"
    ufunc = "remainder"
    kinds = "iuf"
    flops_per_element = 8

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, ``y_bar = -z_bar floor(x / y)``."""
        return z_bar, -(z_bar * FloorDivide()(*operands))
