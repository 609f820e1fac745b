"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.axes import whole_order
from gradwire_engine.ops.base import Cotangents, Static, register
from gradwire_engine.ops.elementwise import Elementwise, InexactUnary, RealBinary, RealUnary, conj
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Sqrt
from gradwire_engine.ops.pointwise.comparison import IsFinite, IsInf
from gradwire_engine.ops.pointwise.selection import Sign, Where
from gradwire_engine.ops.promotion import quotient_promoted
from gradwire_engine.ops.rules import RULES, FormulaRule, by_formula, even, radial

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("sin")
class Sin(InexactUnary):
    """Sine: ``z = sin x``.  Source: DLMF 4.14.1."""

    ufunc = "sin"
    scalar = "math.sin({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = cos x``."""
        return Cos()(x)


@register("cos")
class Cos(InexactUnary):
    """Cosine: ``z = cos x``.  Source: DLMF 4.14.2."""

    ufunc = "cos"
    scalar = "math.cos({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -sin x``."""
        return -Sin()(x)


@register("tan")
class Tan(InexactUnary):
    """Tangent: ``z = tan x``.  Source: DLMF 4.20.3."""

    ufunc = "tan"
    scalar = "math.tan({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 + z²``."""
        return z * z + 1


@register("arcsin", "asin")
class Arcsin(InexactUnary):
    """Inverse sine: ``sin z = x``.  Convention: infinite slope at ±1.  Source: DLMF 4.24.7."""

    ufunc = "arcsin"
    scalar = "math.asin({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / sqrt(1 - x²)``."""
        return _arcsin_slope(x)


@register("arccos", "acos")
class Arccos(InexactUnary):
    """Inverse cosine: ``cos z = x``.  Convention: infinite slope at ±1.  Source: DLMF 4.24.8."""

    ufunc = "arccos"
    scalar = "math.acos({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -1 / sqrt(1 - x²)``."""
        return -_arcsin_slope(x)


def _arcsin_slope(x: Var) -> Var:
    """``1 / sqrt(1 - x²)``, in which nothing cancels near ±1, nor near 0 in its slopes."""
    return by_formula("arcsin_slope", lambda x: 1 / Sqrt()((1 - x) * (x + 1)), x)


def _of_slope(factor: int, exponent: int) -> FormulaRule:
    """The rule of a slope ``s`` that has the slope ``factor x s ** exponent``, 0 at infinity."""

    def rule(z_bar: Var, z: Var, x: Var) -> Cotangents:
        real = x.dtype.kind != "c"
        product = (Where()(IsInf()(x), x.constant(0), x) if real else x) * z * factor
        for _ in range(exponent - 1):
            product = product * z
        return (z_bar * conj(product),)

    return rule


RULES |= {
    "arcsin_slope": _of_slope(1, 3),
    "arctan_slope": _of_slope(-2, 2),
    "arcsinh_slope": _of_slope(-1, 3),
    "arccosh_slope": _of_slope(-1, 3),
    "arctanh_slope": _of_slope(2, 2),
}


@register("arctan", "atan")
class Arctan(InexactUnary):
    """Inverse tangent: ``tan z = x``.  Source: DLMF 4.24.9."""

    ufunc = "arctan"
    scalar = "math.atan({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / (1 + x²)``."""
        return by_formula("arctan_slope", lambda x: 1 / (x * x + 1), x)


@register("arctan2", "atan2")
class Arctan2(RealBinary):
    """Angle of the point ``(y, x)``, the vertical coordinate first: ``tan z = x1 / x2``.

    Convention: derivatives 0 at the origin, with a warning those of second order.
    """

    ufunc = "arctan2"
    scalar = "math.atan2({0}, {1})"
    flops_per_element = 20

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``y_bar = z_bar x / r²``, ``x_bar = -z_bar y / r²``, ``r² = x² + y²``."""
        y, x = operands
        length = Hypot()(x, y)
        r, z_bar = _nonzero(length), even(z_bar, length)
        nowhere = length.equals(0) | length.equals(math.inf)
        slopes = [Where()(nowhere, r.constant(0), v / r / r) for v in (x, y)]
        return z_bar * slopes[0], -(z_bar * slopes[1])


@register("hypot")
class Hypot(RealBinary):
    """Length of the hypotenuse: ``z = sqrt(x² + y²)``.

    Convention: derivatives 0 at the origin.
    """

    ufunc = "hypot"
    scalar = "math.hypot({0}, {1})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar x / z``, ``y_bar = z_bar y / z``."""
        x, y = operands
        pairs = (x, y), (y, x)
        return [radial(z_bar * _share(*pair), z_bar, z, pair[0]) for pair in pairs]


def _share(x: Var, y: Var) -> Var:
    """``x / hypot(x, y)``, ±1 where ``x`` alone is infinite."""
    alone = IsInf()(x) & IsFinite()(y)
    return Where()(alone, Sign()(x), Cosine()(x, y))


@register("smooth_penalty", public=False)
class SmoothPenalty(RealBinary):
    """``z = d (sqrt(d² + r²) - d)`` of positive ``d``, in which nothing cancels."""

    workspace = 4.0
    scalar = (
        "{0} * (math.hypot({0}, {1}) - {0}) if math.hypot({0}, {1}) > 2.0 * {0} "
        "else {0} * ({1} * {1}) / (math.hypot({0}, {1}) + {0})"
    )

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By the difference where that is large, else by the sum."""
        d, r = operands
        length = xp.hypot(d, r)
        small = d * (r * r) / (length + d)
        return xp.where(length > 2 * d, d * (length - d), small)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``d_bar = z_bar w² / l``, ``r_bar = z_bar d r / l``, ``l² = d² + r²``, ``w = l - d``."""
        d, r = operands
        length = Hypot()(d, r)
        w = r * (r / (length + d))
        return z_bar * (w / length * w), z_bar * (d * _share(r, d))


@register("cosine_of_pair", public=False)
class Cosine(RealBinary):
    """``z = x / sqrt(x² + y²)``, and 0 at the origin: nothing in its slopes cancels."""

    scalar = "{0} if math.hypot({0}, {1}) == 0.0 else {0} / math.hypot({0}, {1})"

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Divide by the hypotenuse, by 1 at the origin."""
        r = xp.hypot(*operands)
        return operands[0] / xp.where(r == 0, 1, r)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar s² / r``, ``y_bar = -z_bar z s / r`` with the other cosine ``s``."""
        x, y = operands
        s = Cosine()(y, x)
        r = _nonzero(Hypot()(x, y))
        share = s / r
        return z_bar * _finite(r, share * s), -(z_bar * _finite(r, share * z))


def _finite(r: Var, slope: Var) -> Var:
    """The slope, and 0, its limit, at infinite ``r``."""
    return Where()(r.equals(math.inf), r.constant(0), slope)


def _nonzero(r: Var) -> Var:
    """``r`` with 1 in place of 0, so that 0 / r is 0."""
    return Where()(r.equals(0), r.constant(1), r)


@register("sinh")
class Sinh(InexactUnary):
    """Hyperbolic sine: ``z = sinh x``.  Source: DLMF 4.28.1."""

    ufunc = "sinh"
    scalar = "math.sinh({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = cosh x``."""
        return Cosh()(x)


@register("cosh")
class Cosh(InexactUnary):
    """Hyperbolic cosine: ``z = cosh x``.  Source: DLMF 4.28.2."""

    ufunc = "cosh"
    scalar = "math.cosh({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = sinh x``."""
        return Sinh()(x)


@register("tanh")
class Tanh(InexactUnary):
    """Hyperbolic tangent: ``z = tanh x``.  Source: DLMF 4.34.3."""

    ufunc = "tanh"
    scalar = "math.tanh({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 - z²``, by ``z`` alone, which loops have; 0 below 1e-16."""
        return 1 - z * z


@register("arcsinh", "asinh")
class Arcsinh(InexactUnary):
    """Inverse hyperbolic sine: ``sinh z = x``.  Source: DLMF 4.40.4."""

    ufunc = "arcsinh"
    scalar = "math.asinh({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / sqrt(1 + x²)``."""
        return by_formula("arcsinh_slope", _arcsinh_slope, x)


def _arcsinh_slope(x: Var) -> Var:
    """``1 / sqrt(1 + x²)``, also where the square overflows."""
    square = x * x
    slope = 1 / Sqrt()(square + 1)
    if x.dtype.kind == "c":
        return slope
    return Where()(square.equals(math.inf), 1 / Absolute()(x), slope)


@register("arccosh", "acosh")
class Arccosh(InexactUnary):
    """Inverse hyperbolic cosine: ``cosh z = x``; infinite slope at 1.  Source: DLMF 4.40.5."""

    ufunc = "arccosh"
    scalar = "math.acosh({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / (sqrt(x - 1) sqrt(x + 1))``, right on both sides of the cut."""
        return by_formula("arccosh_slope", _arccosh_slope, x)


def _arccosh_slope(x: Var) -> Var:
    return 1 / (Sqrt()(x - 1) * Sqrt()(x + 1))


@register("arctanh", "atanh")
class Arctanh(InexactUnary):
    """Inverse hyperbolic tangent: ``tanh z = x``; infinite slope at ±1.  Source: DLMF 4.40.6."""

    ufunc = "arctanh"
    scalar = "math.atanh({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 / (1 - x²)``."""
        return by_formula("arctanh_slope", lambda x: 1 / ((1 - x) * (x + 1)), x)


@register("deg2rad", "radians")
class Deg2rad(RealUnary):
    """Degrees to radians: ``z = x π / 180``."""

    ufunc = "deg2rad"
    scalar = "math.radians({0})"
    flops_per_element = 1
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar π / 180``."""
        return (Deg2rad()(z_bar),)


@register("rad2deg", "degrees")
class Rad2deg(RealUnary):
    """Radians to degrees: ``z = x 180 / π``."""

    ufunc = "rad2deg"
    scalar = "math.degrees({0})"
    flops_per_element = 1
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar 180 / π``."""
        return (Rad2deg()(z_bar),)


@register("sinc")
class Sinc(InexactUnary):
    """Normalised cardinal sine: ``z = sin(πx) / (πx)``, and 1 at 0.

    Convention: derivative 0 at 0, which is the limit.
    """

    workspace = 2.0
    ufunc = "sinc"
    flops_per_element = 12

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array; integers of all sizes become float64."""
        return cls()(*b.promote(x, rule=quotient_promoted))

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -π j₁(πx)``."""
        return SphericalJn(1)(x * math.pi) * -math.pi


#: Below this two terms of spherical Bessel functions have all digits, from that order on none.
_NEAR, _LARGEST_NEAR = 1e-4, 80


@register("spherical_jn")
class SphericalJn(Elementwise):
    """Spherical Bessel function of the first kind: ``z = jₙ(x)``; ``j₀(πx)`` is ``sinc x``.

    Source: DLMF 10.47.3, 10.51.2.
    """

    workspace = 1.8
    n: int
    kinds = "fc"
    flops_per_element = 40

    @classmethod
    def record(cls, b: Builder, n: Static, z: Any) -> Any:
        """Record with a static order."""
        return cls(whole_order(n, cls.name))(b.inexact(z))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, in the operand's dtype; near 0, where it underflows, two terms."""
        (x,) = operands
        near = xp.absolute(x) < _NEAR
        t = xp.where(near, x, 0)
        series = 1 - t * t / (4 * self.n + 6)
        for k in range(1, min(self.n, _LARGEST_NEAR) + 1):
            series = series * (t / (2 * k + 1))
        far = xp.special.spherical_jn(self.n, xp.where(near, 1, x))
        return xp.asarray(xp.where(near, series, far), dtype=x.dtype)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (n jₙ₋₁ - (n + 1) jₙ₊₁) / (2n + 1)``, finite also at 0."""
        slope = SphericalJn(self.n + 1)(x) * (-(self.n + 1) / (2 * self.n + 1))
        if self.n:
            slope = slope + SphericalJn(self.n - 1)(x) * (self.n / (2 * self.n + 1))
        return slope
