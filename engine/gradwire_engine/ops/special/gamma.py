"""The gamma function, its logarithm and that one's derivatives, the zeta function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import whole_order
from gradwire_engine.ops.base import Cotangents, Static, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary, SpecialUnary
from gradwire_engine.ops.pointwise.selection import Round, Where
from gradwire_engine.ops.pointwise.trigonometric import Cos, Sin
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.tape import FLOATING, ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The shift of an argument to the right, and Bernoulli's numbers of the asymptotic series there.
_MOVED, _MOVED_FARTHER = 10, 16
_BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798
#: Down to here arguments are moved.
_LEFTMOST = -256.0
#: The highest order of polygamma of complex numbers: beyond, factors of its series overflow.
_HIGHEST_COMPLEX = 100


@register("gammaln", "lgamma")
class GammaLn(SpecialUnary):
    """Logarithm of the gamma function's size: ``z = ln |Γ(x)|``, infinite at 0, -1, -2, ….

    Convention: the slope is NaN at the poles, -inf at +0.  Source: DLMF 5.2.1.
    """

    ufunc = "special.gammaln"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = ψ(x)``."""
        return Digamma()(x)


@register("loggamma")
class LogGamma(SpecialUnary):
    """Logarithm of the gamma function, continued from positive ``x``: cut along negative ``x``.

    For real ``x < 0`` NaN, where ``gammaln`` is real.  Source: DLMF 5.2.1, 4.2.2.
    """

    ufunc = "special.loggamma"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = ψ(x)``, NaN for real ``x < 0``, as ``z``."""
        slope = Digamma()(x)
        if x.dtype.kind in FLOATING:
            return Where()(x.constant(0).exceeds(x), x * math.nan, slope)
        return slope


@register("gamma")
class Gamma(SpecialUnary):
    """Gamma function: ``z = Γ(x) = ∫ tˣ⁻¹ exp(-t) dt`` over positive ``t``, continued.

    Convention: NaN, as the slope, at -1, -2, ….  Source: DLMF 5.2.1.
    """

    ufunc = "special.gamma"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = z ψ(x)``."""
        return z * Digamma()(x)


@register("rgamma")
class RGamma(SpecialUnary):
    """Reciprocal gamma function: ``z = 1 / Γ(x)``, 0 at 0, -1, -2, …, where it is smooth.

    Source: DLMF 5.2.1, 5.5.3.
    """

    ufunc = "special.rgamma"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = -(z ψ(x))``; for ``x < 1/2`` by ``z = sin(πx) Γ(1 - x) / π``."""
        one = x.constant(1)
        growth = Digamma()(Where()(x.equals(math.inf), one, x))
        return Where()(x.exceeds(0.5), -(z * growth), rgamma_slope(x))


def rgamma_slope(x: Var) -> Var:
    """Derivative of ``1 / Γ(x)`` for ``x < 1/2``, that of ``sin(πx) Γ(1 - x) / π``."""
    mirrored = 1 - x
    angle = (x if x.dtype.kind == "c" else x - Round()(x * 0.5) * 2) * math.pi
    turned = Sin()(angle) * Digamma()(mirrored) * (1 / math.pi)
    return (Cos()(angle) - turned) * Gamma()(mirrored)


@register("gammasgn")
class GammaSgn(SpecialUnary):
    """Sign of the gamma function: 1 for ``x > 0``; NaN at the poles, and no derivative."""

    ufunc = "special.gammasgn"
    differentiable = False


@register("digamma", "psi")
class Digamma(SpecialUnary):
    """Slope of the logarithm of gamma: ``z = ψ(x) = Γ'(x) / Γ(x)``.

    Convention: NaN at -1, -2, …, -inf at +0.  Source: DLMF 5.2.2.
    """

    ufunc = "special.digamma"
    kinds = "fc"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = ψ'(x)``."""
        return polygamma_of(1, x)


@register("digamma_rise", public=False)
class DigammaRise(SpecialBinary):
    """``z = ψ⁽ⁿ⁾(x + h) - ψ⁽ⁿ⁾(x)``, in which nothing cancels for positive ends and small ``h``.

    Source: DLMF 5.5.2, 5.11.2, differentiated.
    """

    n: int = 0
    flops_per_element = 400

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The difference."""
        return polygamma_rise(xp, self.n, *operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (ψ⁽ⁿ⁺¹⁾(x + h) - ψ⁽ⁿ⁺¹⁾(x))``, ``h_bar = z_bar ψ⁽ⁿ⁺¹⁾(x + h)``."""
        x, h = operands
        return z_bar * DigammaRise(self.n + 1)(x, h), z_bar * polygamma_of(self.n + 1, x + h)


def polygamma_rise(xp: Any, n: int, *operands: Any) -> Any:
    """``ψ⁽ⁿ⁾(x + h) - ψ⁽ⁿ⁾(x)``: both moved to where the asymptotic series are subtracted."""
    x, h = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
    end = x + h
    least = xp.minimum(x, end)
    poles = (least <= 0) & ((x == xp.floor(x)) | (end == xp.floor(end)))
    valid = (least > _LEFTMOST) & ~poles & (end + _MOVED < math.inf)
    safe, step = xp.where(valid, x, _MOVED), xp.where(valid, h, 1)
    least = float(xp.min(xp.where(valid, least, _MOVED), initial=_MOVED))
    moved = max(0, _MOVED - math.floor(least))
    total = xp.zeros(xp.shape(x))
    for k in range(moved):
        total = total - _fall(xp, safe + k, step, n + 1)
    w = safe + moved
    total = total - _fall(xp, w, step, n + 1) / 2
    total = total * math.factorial(n)
    total = (
        total - _fall(xp, w, step, n) * math.factorial(n - 1) if n else total + xp.log1p(step / w)
    )
    # Differences of powers, each from the one before, in which nothing cancels.
    u, v = 1 / (w + step), 1 / w
    fall = _fall(xp, w, step, 2)
    squares, power, part = (u * u, v * v), v**n, _fall(xp, w, step, n) if n else 0
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        part = part * squares[0] + power * fall
        power = power * squares[1]
        weight = bernoulli * math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        total = total - part * weight
    if valid.all():
        return ((-1) ** n * total).astype(operands[0].dtype)
    plain = _polygamma(xp, n, end) - _polygamma(xp, n, x)
    plain = xp.where((x == math.inf) & (end == math.inf), 0, plain)
    return xp.where(valid, (-1) ** n * total, plain).astype(operands[0].dtype)


def _fall(xp: Any, y: Any, h: Any, m: int) -> Any:
    """``(y + h)⁻ᵐ - y⁻ᵐ`` of positive ``y`` and ``y + h``."""
    u, v = 1 / (y + h), 1 / y
    quotient = -h * u * v
    return quotient * sum([u**i * v ** (m - 1 - i) for i in range(m)]) if m > 1 else quotient


def _polygamma(xp: Any, n: int, x: Any) -> Any:
    if not n:
        return xp.special.digamma(x)
    order = x.dtype.type(n + 1)
    return xp.special.gamma(order) * (-1.0) ** (n + 1) * xp.special.zeta(order, x)


@register("polygamma")
class Polygamma(Special):
    """Derivative number ``n`` of digamma: ``z = ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n + 1, x)``.

    The order is static, of complex ``x`` at most 100. Convention: infinite at 0, -1, -2, … for odd
    orders, NaN for even.  Source: DLMF 5.15.1, 5.15.5, 5.15.6, 5.15.9.
    """

    workspace = 1.0
    n: int
    kinds = "fc"

    @classmethod
    def record(cls, b: Builder, n: Static, x: Any) -> Any:
        """Record with a static order."""
        return polygamma_of(whole_order(n, cls.name), *b.promote(x, rule=special_promoted))

    def infer(self, *types: ArrayType) -> ArrayType:
        """The same type; of complex numbers the order is bounded."""
        if types[0].dtype.kind == "c" and self.n > _HIGHEST_COMPLEX:
            raise BadArgument(
                f"polygamma of complex numbers needs an order of at most {_HIGHEST_COMPLEX}, "
                f"got {self.n}"
            )
        return super().infer(*types)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Hurwitz's zeta function; for complex ``x`` the asymptotic series, far to the right."""
        (x,) = operands
        if x.dtype.kind == "c":
            return _complex_polygamma(xp, self.n, x.astype("complex128")).astype(x.dtype)
        return _polygamma(xp, self.n, x)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = ψ⁽ⁿ⁺¹⁾(x)``."""
        return polygamma_of(self.n + 1, x)


def _complex_polygamma(xp: Any, n: int, x: Any) -> Any:
    """``ψ⁽ⁿ⁾(x)``: reflected to the right half plane, then moved to where the series is exact."""
    left = x.real < 0.5
    w = xp.where(left, 1 - x, x)
    total = xp.zeros(xp.shape(x), x.dtype)
    for _ in range(_MOVED_FARTHER + n):
        total = total + math.factorial(n) / w ** (n + 1)
        w = w + 1
    total = total + math.factorial(n - 1) / w**n + math.factorial(n) / (2 * w ** (n + 1))
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        weight = bernoulli * math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        total = total + weight / w ** (2 * k + n)
    return xp.where(left, -total - math.pi * _cotangent_slope(xp, n, x), (-1) ** (n + 1) * total)


def _cotangent_slope(xp: Any, n: int, x: Any) -> Any:
    """Derivative number ``n > 0`` of ``cot πx``: a polylogarithm of ``u = exp(2πi x)``, |u| ≤ 1.

    ``cot πx = -i - 2i Li₀(u)``, and each derivative multiplies by ``2πi`` and lowers the order.
    Source: DLMF 4.21, 25.12.10.
    """
    upper = xp.where(x.imag < 0, xp.conj(x), x)
    exponent = 2j * math.pi * (upper - xp.round(upper.real))
    numerator = u = np.polynomial.Polynomial([0, 1])
    for k in range(n):
        numerator = u * ((1 - u) * numerator.deriv() + (k + 1) * numerator)
    *others, total = numerator.coef.tolist()
    powers = xp.exp(exponent)
    for coefficient in reversed(others):
        total = coefficient + total * powers
    slope = -2j * (2j * math.pi) ** n * total / (-xp.expm1(exponent)) ** (n + 1)
    return xp.where(x.imag < 0, xp.conj(slope), slope)


def polygamma_of(n: int, x: Var) -> Var:
    """``ψ⁽ⁿ⁾(x)``; for ``n = 0`` digamma itself, which zeta's pole does not give."""
    return Polygamma(n)(x) if n else Digamma()(x)
