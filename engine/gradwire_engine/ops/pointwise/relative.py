"""Exponentials, powers and cosines less what cancels; powers of ten, degrees, Box and Cox."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.exponential import LN_10, Exp, Log, Log1p, XLogY
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.pointwise.trigonometric import Sin
from gradwire_engine.ops.special.error_functions import XLog1pY
from gradwire_engine.ops.special.hypergeometric import Hyp1f1, Hyp2f1

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

DEGREE = math.pi / 180


@register("exp10")
class Exp10(SpecialUnary):
    """Power of ten: ``z = 10 ** x``."""

    ufunc = "special.exp10"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z ln 10``."""
        return (z_bar * (z * LN_10),)


@register("exprel")
class Exprel(SpecialUnary):
    """Relative error of ``1 + x`` for the exponential: ``z = (exp(x) - 1) / x``, 1 at 0.

    It is Kummer's function ``₁F₁(1; 2; x)``.  Source: DLMF 13.6.2.
    """

    ufunc = "special.exprel"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ₁F₁(2; 3; x) / 2``, in which nothing cancels."""
        return (z_bar * _slope_of_exprel(operands[0]),)


def _slope_of_exprel(x: Var) -> Var:
    two, three = (x.builder.scalar(n, x.dtype) for n in (2, 3))
    return Hyp1f1()(two, three, x) * 0.5


@register("cosm1")
class Cosm1(SpecialUnary):
    """Cosine less 1, exact near 0: ``z = cos x - 1``."""

    ufunc = "special.cosm1"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar sin x``."""
        return (-(z_bar * Sin()(operands[0])),)


@register("sindg")
class Sindg(SpecialUnary):
    """Sine of an angle in degrees, exact at multiples of 30."""

    ufunc = "special.sindg"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar cos(x°) π / 180``."""
        return (z_bar * (Cosdg()(operands[0]) * DEGREE),)


@register("cosdg")
class Cosdg(SpecialUnary):
    """Cosine of an angle in degrees, exact at multiples of 30."""

    ufunc = "special.cosdg"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar sin(x°) π / 180``."""
        return (-(z_bar * (Sindg()(operands[0]) * DEGREE)),)


@register("tandg")
class Tandg(SpecialUnary):
    """Tangent of an angle in degrees; infinite at 90, 270, …."""

    ufunc = "special.tandg"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (1 + z²) π / 180``."""
        return (z_bar * ((z * z + 1) * DEGREE),)


@register("cotdg")
class Cotdg(SpecialUnary):
    """Cotangent of an angle in degrees; infinite at 0, 180, …."""

    ufunc = "special.cotdg"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = -z_bar (1 + z²) π / 180``."""
        return (-(z_bar * ((z * z + 1) * DEGREE)),)


@register("boxcox")
class BoxCox(SpecialBinary):
    """Box and Cox's transform: ``z = (x ** y - 1) / y``, ``ln x`` where ``y`` is 0; ``x ≥ 0``.

    Source: Box and Cox, "An analysis of transformations" (1964).
    """

    ufunc = "special.boxcox"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar x ** (y - 1)``; ``y_bar`` by the slope of ``exprel``."""
        x, y = operands
        slope = Exp()(XLogY()(y - 1, x))
        return z_bar * slope, z_bar * _boxcox_in_power(Log()(x), y)


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


@register("inv_boxcox")
class InvBoxCox(SpecialBinary):
    """Inverse of Box and Cox's transform: ``z = (1 + x y) ** (1 / y)``, ``exp x`` for ``y = 0``."""

    ufunc = "special.inv_boxcox"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z / (1 + x y)``; ``y_bar = z_bar z x² g(x y)``."""
        return _inverse_boxcox_slopes(z_bar * z, *operands)


@register("inv_boxcox1p")
class InvBoxCox1p(SpecialBinary):
    """Inverse of the transform of ``1 + x``: ``z = (1 + x y) ** (1 / y) - 1``, exact near 0."""

    ufunc = "special.inv_boxcox1p"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """As of ``inv_boxcox``, with ``1 + z`` in place of ``z``."""
        return _inverse_boxcox_slopes(z_bar * (z + 1), *operands)


def _inverse_boxcox_slopes(z_bar: Var, x: Var, y: Var) -> Cotangents:
    """Cotangents of ``z = exp(x ln(1 + u) / u)``, ``u = x y``; ``g`` is the slope of the quotient.

    ``g = (u / (1 + u) - ln(1 + u)) / u²``, which near 0, where that cancels, is
    ``-₂F₁(2, 2; 3; -u) / 2``.  Source: DLMF 15.4.1, 15.5.1.
    """
    u = x * y
    zero, one, two, three = (x.builder.scalar(n, x.dtype) for n in range(4))
    far = Absolute()(u).exceeds(0.5)
    safe, power = Where()(far, u, one), Where()(far, y, one)
    beyond = (safe / (safe + 1) - Log1p()(safe)) / power / power
    near = x * x * (Hyp2f1()(two, two, three, -Where()(far, zero, u)) * -0.5)
    return z_bar / (u + 1), z_bar * Where()(far, beyond, near)
