"""Error functions, the logit, a product with a logarithm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary, SpecialUnary, conj
from gradwire_engine.ops.pointwise.complex import Complex, Imag, Real, complex_of
from gradwire_engine.ops.pointwise.exponential import Exp, Log1p
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.ops.special.tails import bell, gaussian
from gradwire_engine.tape import FLOATING

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _bell(x: Var) -> Var:
    """``2 / sqrt(π) exp(-x²)``, the derivative of erf."""
    return bell(x, -1) * TWO_OVER_ROOT_PI


@register("erf")
class Erf(SpecialUnary):
    """Error function: ``z = 2 / sqrt(π) ∫ exp(-t²) dt`` from 0 to ``x``.  Source: DLMF 7.2.1."""

    ufunc = "special.erf"
    scalar = "math.erf({0})"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 2 / sqrt(π) exp(-x²)``."""
        return _bell(x)


@register("erfc")
class Erfc(SpecialUnary):
    """Complementary error function, exact for large ``x``: ``z = 1 - erf x``.

    Source: DLMF 7.2.2.
    """

    ufunc = "special.erfc"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -(2 / sqrt(π) exp(-x²))``."""
        return -_bell(x)


@register("erfinv")
class Erfinv(SpecialUnary):
    """Inverse error function: ``erf z = x``; infinite slope at ±1.  Source: DLMF 7.17.1."""

    ufunc = "special.erfinv"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = sqrt(π) / 2 exp(z²)``."""
        return Exp()(z * z) / TWO_OVER_ROOT_PI


@register("erfcinv")
class Erfcinv(SpecialUnary):
    """Inverse of erfc, exact for small ``x``: ``erfc z = x``; infinite slope at 0 and 2."""

    ufunc = "special.erfcinv"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -sqrt(π) / 2 exp(z²)``."""
        return -(Exp()(z * z) / TWO_OVER_ROOT_PI)


@register("erfi")
class Erfi(SpecialUnary):
    """Imaginary error function: ``z = -i erf(i x)``.  Source: DLMF 7.2.1."""

    ufunc = "special.erfi"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 2 / sqrt(π) exp(x²)``."""
        return Exp()(x * x) * TWO_OVER_ROOT_PI


@register("erfcx")
class Erfcx(SpecialUnary):
    """Scaled complementary error function: ``z = exp(x²) erfc x``.

    Source: DLMF 7.2.2, 7.10.1, 7.12.1.
    """

    ufunc = "special.erfcx"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 2 x z - 2 / sqrt(π)``, where it is small by its series."""
        return gaussian(x, z, x * z * 2 - TWO_OVER_ROOT_PI, -1, "right")


@register("dawsn")
class Dawsn(SpecialUnary):
    """Dawson's integral: ``z = exp(-x²) ∫ exp(t²) dt`` from 0 to ``x``.

    Source: DLMF 7.2.5, 7.10.3, 7.12.1.
    """

    ufunc = "special.dawsn"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 1 - 2 x z``, where it is small by its series."""
        return gaussian(x, z, 1 - x * z * 2, 1, "both")


@register("wofz")
class Wofz(SpecialUnary):
    """Faddeeva's function: ``z = exp(-x²) erfc(-i x)``, complex also for real ``x``.

    Source: DLMF 7.2.3, 7.10.2, 7.12.1.
    """

    ufunc = "special.wofz"
    kinds = "c"

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on one array, made complex."""
        (x,) = b.promote(x, rule=special_promoted)
        return cls()(b.cast(x, complex_of(x.dtype)) if x.dtype.kind in FLOATING else x)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = 2 i / sqrt(π) - 2 x z``, where it is small by its series."""
        near = x * z * -2 + 1j * TWO_OVER_ROOT_PI
        return _upwards(x, near, gaussian(x, z, near, 1, "up"))


def _upwards(x: Var, near: Var, slope: Var) -> Var:
    """The slope; of real ``x`` the real part has ``exp(-x²)``, which no series sees."""
    of_real = Complex()(Real()(near), Imag()(slope))
    return Where()(Imag()(x).equals(0), of_real, slope)


@register("times_wofz", public=False)
class TimesWofz(SpecialUnary):
    """Faddeeva's function times its argument, far out nearly ``i / sqrt(π)``."""

    kinds = "c"

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The product."""
        return operands[0] * xp.special.wofz(operands[0])

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = z / x - 2 x z + 2 i x / sqrt(π)``, where it is small by its series."""
        near = z / x + x * (z * -2 + 1j * TWO_OVER_ROOT_PI)
        return _upwards(x, near, gaussian(x, z, near, 1, "up", power=0))


@register("logit")
class Logit(SpecialUnary):
    """Logarithm of the odds: ``z = ln(x / (1 - x))``; infinite slope at 0 and 1."""

    ufunc = "special.logit"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = (1 / x + 1 / (1 - x))``."""
        return 1 / x + 1 / (1 - x)


@register("xlog1py")
class XLog1pY(SpecialBinary):
    """Product with a logarithm: ``z = x ln(1 + y)``, and 0 where ``x`` is 0.

    Convention: derivatives 0 where ``x`` is 0 and ``y`` is -1.
    """

    ufunc = "special.xlog1py"
    kinds = "fc"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar ln(1 + y)*``, ``y_bar = z_bar (x / (1 + y))*``."""
        x, y = operands
        nowhere = x.equals(0) & y.equals(-1)
        safe = Where()(nowhere, y.constant(0), y)
        return z_bar * conj(Log1p()(safe)), z_bar * conj(x / (safe + 1))
