"""Exponentials, powers and cosines less what cancels; powers of ten, degrees, Box and Cox."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, in_base, in_exponent
from gradwire_engine.ops.pointwise.comparison import Less
from gradwire_engine.ops.pointwise.exponential import LN_10, Exp, Log, Log1p
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.pointwise.trigonometric import Sin
from gradwire_engine.ops.special.error_functions import XLog1pY
from gradwire_engine.ops.special.hypergeometric import Hyp1f1, Hyp2f1

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

DEGREE = math.pi / 180
#: Products below this are no longer rounded to all digits.
_PRECISE = 1e-290


@register("exp10")
class Exp10(SpecialUnary):
    """Power of ten: ``z = 10 ** x``."""

    ufunc = "special.exp10"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = z ln 10``."""
        return z * LN_10


@register("exprel")
class Exprel(SpecialUnary):
    """Relative error of ``1 + x`` for the exponential: ``z = (exp(x) - 1) / x``, 1 at 0.

    It is Kummer's function ``₁F₁(1; 2; x)``.  Source: DLMF 13.6.2.
    """

    ufunc = "special.exprel"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = ₁F₁(2; 3; x) / 2``, in which nothing cancels."""
        return _slope_of_exprel(x)


def _slope_of_exprel(x: Var) -> Var:
    two, three = (x.constant(n) for n in (2, 3))
    return Hyp1f1()(two, three, x) * 0.5


@register("cosm1")
class Cosm1(SpecialUnary):
    """Cosine less 1, exact near 0: ``z = cos x - 1``."""

    ufunc = "special.cosm1"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -sin x``."""
        return -Sin()(x)


@register("sindg")
class Sindg(SpecialUnary):
    """Sine of an angle in degrees, exact at multiples of 30."""

    ufunc = "special.sindg"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = cos(x°) π / 180``."""
        return Cosdg()(x) * DEGREE


@register("cosdg")
class Cosdg(SpecialUnary):
    """Cosine of an angle in degrees, exact at multiples of 30."""

    ufunc = "special.cosdg"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -sin(x°) π / 180``."""
        return -(Sindg()(x) * DEGREE)


@register("tandg")
class Tandg(SpecialUnary):
    """Tangent of an angle in degrees; infinite at 90, 270, …."""

    ufunc = "special.tandg"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (1 + z²) π / 180``."""
        return (z * z + 1) * DEGREE


@register("cotdg")
class Cotdg(SpecialUnary):
    """Cotangent of an angle in degrees; infinite at 0, 180, …."""

    ufunc = "special.cotdg"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -(1 + z²) π / 180``."""
        return -((z * z + 1) * DEGREE)


@register("powm1")
class PowM1(SpecialBinary):
    """Power less 1, exact near ``x = 1`` and ``y = 0``: ``z = x ** y - 1`` for ``x ≥ 0``.

    Convention: derivatives 0 where both are 0.
    """

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By a logarithm."""
        x, y = operands
        return xp.expm1(xp.special.xlogy(y, x))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar y x**(y-1)``, ``y_bar = z_bar x**y log x``, as of ``power``."""
        x, y = operands
        return in_base(z_bar, x, y), z_bar * in_exponent(x, Power()(x, y))


@register("boxcox")
class BoxCox(SpecialBinary):
    """Box and Cox's transform: ``z = (x ** y - 1) / y``, ``ln x`` where ``y`` is 0; ``x ≥ 0``.

    Source: Box and Cox, "An analysis of transformations" (1964).
    """

    ufunc = "special.boxcox"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar x ** (y - 1)``; ``y_bar`` by the slope of ``exprel``."""
        x, y = operands
        return z_bar * Power()(x, y - 1), z_bar * _boxcox_in_power(Log()(x), y)


@register("boxcox1p")
class BoxCox1p(SpecialBinary):
    """Box and Cox's transform of ``1 + x``: ``z = ((1 + x) ** y - 1) / y``, exact near 0."""

    ufunc = "special.boxcox1p"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (1 + x) ** (y - 1)``; ``y_bar`` by the slope of ``exprel``."""
        x, y = operands
        slope = Exp()(XLog1pY()(y - 1, x))
        return z_bar * slope, z_bar * _boxcox_in_power(Log1p()(x), y)


def _boxcox_in_power(log: Var, y: Var) -> Var:
    """Derivative in ``y`` of ``l exprel(y l)``: ``l² exprel'(y l)``."""
    return log * log * _slope_of_exprel(y * log)


class InverseBoxCox(SpecialBinary):
    """``(1 + x y) ** (1 / y)``, ``exp x`` where ``y`` is 0, less what ``less`` says."""

    less: ClassVar[float]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's function, and its limit where a product has no digits."""
        x, y = operands
        limit = xp.expm1(x) if self.less else xp.exp(x)
        return xp.where(xp.absolute(x * y) < _PRECISE, limit, getattr(xp.special, self.name)(x, y))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (1 + x y) ** (1 / y - 1)``; ``y_bar = z_bar z x² g(x y)``.

        ``g = -₂F₁(2, 2; 3; -u) / 2`` is the slope of ``ln(1 + u) / u``, in which nothing cancels
        near 0.  Source: DLMF 15.4.1, 15.5.1.
        """
        x, y = operands
        u = x * y
        small = Less()(Absolute()(u), u.constant(0.5))
        one, two, three = (x.constant(n) for n in (1, 2, 3))
        power = InvBoxCox()(x, y) if self.less else z
        log = Log1p()(u)
        divisor = Where()(small, one, y)
        in_x = Where()(small, power / (u + 1), Exp()(log * (1 / divisor - 1)))
        near = x * x * (Hyp2f1()(two, two, three, -Where()(small, u, one)) * -0.5)
        far = (u / (u + 1) - log) / divisor / divisor
        return z_bar * in_x, z_bar * (power * Where()(small, near, far))


@register("inv_boxcox")
class InvBoxCox(InverseBoxCox):
    """Inverse of Box and Cox's transform: ``z = (1 + x y) ** (1 / y)``, ``exp x`` for ``y = 0``."""

    less = 0.0


@register("inv_boxcox1p")
class InvBoxCox1p(InverseBoxCox):
    """Inverse of the transform of ``1 + x``: ``z = (1 + x y) ** (1 / y) - 1``, exact near 0."""

    less = 1.0
