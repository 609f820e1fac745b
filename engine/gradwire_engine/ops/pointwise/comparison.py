"""Comparisons, logic, and bit operations: nothing here carries a derivative."""

from __future__ import annotations

from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import Binary, Predicate, Unary


class Comparison(Predicate, Binary):
    """Ask of each pair of elements, promoted to one dtype."""


class Question(Predicate, Unary):
    """Ask of each element."""


_PARENTHESES = "comparisons go in parentheses: (x > 0) & (y > 0)"


class BinaryBits(Binary):
    """Combine the bits of booleans or integers."""

    kinds = "biu"
    differentiable = False


@register("equal")
class Equal(Comparison):
    """True where ``x == y``."""

    template = "{0} == {1}"
    ufunc = "equal"


@register("not_equal")
class NotEqual(Comparison):
    """True where ``x != y``, or either is NaN."""

    template = "{0} != {1}"
    ufunc = "not_equal"


@register("less")
class Less(Comparison):
    """True where ``x < y``; complex numbers in the order of their real, then imaginary parts."""

    template = "{0} < {1}"
    ufunc = "less"


@register("less_equal")
class LessEqual(Comparison):
    """True where ``x <= y``; complex numbers in the order of their real, then imaginary parts."""

    template = "{0} <= {1}"
    ufunc = "less_equal"


@register("greater")
class Greater(Comparison):
    """True where ``x > y``; complex numbers in the order of their real, then imaginary parts."""

    template = "{0} > {1}"
    ufunc = "greater"


@register("greater_equal")
class GreaterEqual(Comparison):
    """True where ``x >= y``; complex numbers in the order of their real, then imaginary parts."""

    template = "{0} >= {1}"
    ufunc = "greater_equal"


@register("logical_and")
class LogicalAnd(Comparison):
    """True where both are nonzero."""

    ufunc = "logical_and"
    scalar = "{0} and {1}"


@register("logical_or")
class LogicalOr(Comparison):
    """True where either is nonzero."""

    ufunc = "logical_or"
    scalar = "{0} or {1}"


@register("logical_xor")
class LogicalXor(Comparison):
    """True where exactly one is nonzero."""

    ufunc = "logical_xor"
    scalar = "{0} != {1}"


@register("logical_not")
class LogicalNot(Question):
    """True where ``x`` is zero."""

    ufunc = "logical_not"
    scalar = "not {0}"


@register("isnan")
class IsNan(Question):
    """True where ``x`` is NaN, in either part if complex."""

    ufunc = "isnan"
    scalar = "math.isnan({0})"


@register("isinf")
class IsInf(Question):
    """True where ``x`` is infinite, in either part if complex."""

    ufunc = "isinf"
    scalar = "math.isinf({0})"


@register("isfinite")
class IsFinite(Question):
    """True where ``x`` is neither infinite nor NaN, in both parts if complex."""

    ufunc = "isfinite"
    scalar = "math.isfinite({0})"


@register("bitwise_and")
class BitwiseAnd(BinaryBits):
    """Bits set in both: ``z = x & y``."""

    template = "{0} & {1}"
    advice = _PARENTHESES
    ufunc = "bitwise_and"


@register("bitwise_or")
class BitwiseOr(BinaryBits):
    """Bits set in either: ``z = x | y``."""

    template = "{0} | {1}"
    advice = _PARENTHESES
    ufunc = "bitwise_or"


@register("bitwise_xor")
class BitwiseXor(BinaryBits):
    """Bits set in exactly one: ``z = x ^ y``."""

    template = "{0} ^ {1}"
    advice = "a power is written x**2"
    ufunc = "bitwise_xor"


@register("invert", "bitwise_not", "bitwise_invert")
class Invert(Unary):
    """Bits flipped: ``z = ~x``; for booleans, the opposite."""

    template = "~{0}"
    ufunc = "invert"
    scalar = "not {0}"
    kinds = "biu"
    differentiable = False


@register("left_shift", "bitwise_left_shift")
class LeftShift(BinaryBits):
    """Bits moved up: ``z = x << y``; for integers."""

    template = "{0} << {1}"
    ufunc = "left_shift"
    kinds = "iu"


@register("right_shift", "bitwise_right_shift")
class RightShift(BinaryBits):
    """Bits moved down: ``z = x >> y``; for integers, keeping the sign."""

    template = "{0} >> {1}"
    ufunc = "right_shift"
    kinds = "iu"
