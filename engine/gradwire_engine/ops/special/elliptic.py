"""Elliptic integrals, Carlson's and Legendre's, and the arithmetic-geometric mean.

All derivatives are algebraic integrals over the half line, whose integrands keep their sign; these
are closed under differentiation. First ones are Carlson's integrals again, or sums of these; for
all orders, and where such a sum cancels, there is a quadrature.
Source: DLMF 19.16, 19.18, 19.20, 19.25.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import Special, SpecialBinary
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Sqrt, Square
from gradwire_engine.ops.pointwise.comparison import IsFinite, IsInf, Less
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, Round, Where
from gradwire_engine.ops.pointwise.trigonometric import Arctan2, Cos, Sin

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Step of the quadrature in ln t, and the exponent beyond which a tail is nothing.
_STEP, _NEGLIGIBLE = 0.4, 40.0
#: Values of the integrand that are held at a time, if more than one node's.
_BLOCK = 1 << 14
#: Share by which operands differ for sums in which their integrals are subtracted.
_APART = 1e-3
#: So many arithmetic and geometric means suffice for all operands; what more would change nothing.
_MEANS, _ENOUGH = 40, 1e-17
#: Share of the larger operand below which the other's square is nothing.
_FAR = 1e-9
#: Products of a few numbers up to this one, and of their reciprocals, are finite and not 0.
_HUGE = 1e60


@register("algebraic_integral", public=False)
class AlgebraicIntegral(Special):
    """``z = ∫ tʳ Π (t + xⱼ)^(-pⱼ) dt`` over positive ``t``, for ``xⱼ ≥ 0`` and half-integer ``pⱼ``.

    Infinite where it diverges at 0, NaN for negative operands.  Source: DLMF 19.16.9.
    """

    powers: tuple[float, ...]
    rise: int = 0
    flops_per_element = 10_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The integral."""
        return self.integral(xp, *operands)

    def integral(self, xp: Any, *operands: Any) -> Any:
        """By Carlson's integrals where these do, in double precision; else by quadrature."""
        xs = xp.broadcast_arrays(*[x.astype("float64") for x in operands])
        given = xs
        valid = math.prod([(x >= 0) & (x < math.inf) for x in xs]).astype(bool)
        at_zero = sum([p * (x == 0) for p, x in zip(self.powers, xs, strict=True)])
        finite = valid & (at_zero < self.rise + 1)
        xs = [xp.where(finite, x, 1).reshape(-1) for x in xs]
        found = _by_carlsons(xp, self.powers, self.rise, xs)
        if found is None:
            found = self._quadrature(xp, xs)
        else:
            (places,) = xp.nonzero(~xp.isfinite(found) | _extreme(xp, xs))
            if len(places):
                found[places] = self._quadrature(xp, [x[places] for x in xs])
        total = xp.where(finite, found.reshape(valid.shape), math.inf)
        nothing = math.prod([x >= 0 for x in given]) & (sum([x == math.inf for x in given]) > 0)
        outside = xp.where(nothing, 0, math.nan)
        return xp.where(valid, total, outside).astype(operands[0].dtype)

    def _quadrature(self, xp: Any, xs: Sequence[Any]) -> Any:
        """Trapezoidal in ``ln t``: exact, as all is analytic for |arg t| < π.

        Source: Trefethen and Weideman, "The exponentially convergent trapezoidal rule" (2014).
        """
        logs = [xp.log(x) for x in xs]
        stacked = xp.stack([xp.where(x > 0, ln, 0) for x, ln in zip(xs, logs, strict=True)])
        at_zero = sum([p * (x == 0) for p, x in zip(self.powers, xs, strict=True)])
        rise, fall = self.rise + 1 - at_zero, sum(self.powers) - self.rise - 1
        first = xp.min(stacked, axis=0, initial=0.0) - _NEGLIGIBLE / rise
        last = xp.max(stacked, axis=0, initial=0.0) + _NEGLIGIBLE / fall
        count = math.ceil(float(xp.max(last - first, initial=0.0)) / _STEP)
        total = xp.zeros(xp.shape(first))
        block = max(1, _BLOCK // max(1, total.size))
        for start in range(0, count, block):
            s = _STEP * xp.arange(start, min(start + block, count))
            s = first + s.reshape(-1, 1)
            exponent = (self.rise + 1) * s
            for p, ln in zip(self.powers, logs, strict=True):
                exponent = exponent - p * xp.logaddexp(s, ln)
            total = total + xp.sum(xp.exp(exponent), axis=0)
        return total * _STEP

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``xⱼ_bar = -z_bar pⱼ`` times the integral of one power more of ``t + xⱼ``."""
        bars = []
        for j, p in enumerate(self.powers):
            powers = (*self.powers[:j], p + 1, *self.powers[j + 1 :])
            bars.append(z_bar * (AlgebraicIntegral(powers, self.rise)(*operands) * -p))
        return bars


def _by_carlsons(xp: Any, powers: Sequence[float], rise: int, xs: Sequence[Any]) -> Any:
    """The integral by ``R_F``, ``R_D`` and ``R_J``, NaN where these cancel; None if it is none.

    Of seven halves by partial fractions, or by Euler's theorem, as it is homogeneous.
    Source: DLMF 19.16, 19.18.11, 19.21.
    """
    carlsons: list[Any] = [getattr(xp.special, f"ellipr{letter}", None) for letter in "fdj"]
    halves = [round(2 * p) for p in powers]
    total, largest = sum(halves) - 2 * rise, max(range(len(halves)), key=halves.__getitem__)
    if None in carlsons or rise > 1 or total > 7 or (rise and total > 3):
        return None
    first, second, third = carlsons
    x, below = xs[largest], _raised(powers, largest, -1)
    if rise:  # t / (t + x) is 1 - x / (t + x)
        whole = _by_carlsons(xp, powers, 0, xs)
        return _by_carlsons(xp, below, 0, xs) - xp.where(x > 0, x * whole, 0)
    if total == 3:
        return 2 * first(*_repeated(xs, halves))
    if total == 5:
        taken = min(halves[largest], 3)
        halves[largest] -= taken
        return (second if taken == 3 else third)(*_repeated(xs, halves), x) * (2 / 3)
    for j, y in enumerate(xs):
        if halves[j] > 1 and j != largest:
            less = _by_carlsons(xp, _raised(powers, j, -1), 0, xs)
            less = less - _by_carlsons(xp, below, 0, xs)
            near = xp.abs(y - x) < _APART * xp.maximum(y, x)
            return less / xp.where(near, math.nan, y - x)
    weighted = _by_carlsons(xp, below, 0, xs) * (sum(below) - 1)
    for j, y in enumerate(xs):
        if j != largest:
            part = _by_carlsons(xp, _raised(below, j, 1), 0, xs) * y * below[j]
            weighted = weighted - xp.where(y > 0, part, 0)
    return weighted / (below[largest] * x)


def _raised(powers: Sequence[float], j: int, by: int) -> list[float]:
    return [p + by * (i == j) for i, p in enumerate(powers)]


def _repeated(xs: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    return [x for x, count in zip(xs, counts, strict=True) for _ in range(count)]


def _extreme(xp: Any, xs: Sequence[Any]) -> Any:
    """Where products of these, of which none is negative, may underflow or overflow."""
    sizes = xp.stack(xp.broadcast_arrays(*xs))
    beyond = ((sizes > 0) & (sizes < 1 / _HUGE)) | (sizes > _HUGE)
    return beyond.any(axis=0) & (sizes >= 0).all(axis=0)


class Carlson(Special):
    """An elliptic integral of Carlson's: ``scale`` times an algebraic one."""

    powers: ClassVar[tuple[float, ...]]
    scale: ClassVar[float]
    flops_per_element = 100

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine; by the algebraic integral where it underflows or overflows."""
        z = super().kernel(xp, *operands)
        extreme = _extreme(xp, operands)
        if not extreme.any():
            return z
        integral = AlgebraicIntegral(self.powers).integral(xp, *operands)
        return xp.where(extreme, integral * self.scale, z)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """As of the algebraic integral."""
        return AlgebraicIntegral(self.powers).vjp(z_bar * self.scale, z, *operands)


@register("elliprf", public=False)
class EllipRF(Carlson):
    """``z = R_F(x, y, w) = 1/2 ∫ dt / sqrt((t + x)(t + y)(t + w))``.  Source: DLMF 19.16.1."""

    ufunc = "special.elliprf"
    powers, scale = (0.5, 0.5, 0.5), 0.5


@register("elliprd", public=False)
class EllipRD(Carlson):
    """``z = R_D(x, y, w) = R_J(x, y, w, w)``.  Source: DLMF 19.16.5."""

    ufunc = "special.elliprd"
    powers, scale = (0.5, 0.5, 1.5), 1.5


@register("elliprj", public=False)
class EllipRJ(Carlson):
    """``z = R_J(x, y, w, p)``.  Source: DLMF 19.16.2."""

    ufunc = "special.elliprj"
    powers, scale = (0.5, 0.5, 0.5, 1.0), 1.5


@register("elliprc", public=False)
class EllipRC(Carlson):
    """``z = R_C(x, y) = R_F(x, y, y)``.  Source: DLMF 19.16.6."""

    ufunc = "special.elliprc"
    powers, scale = (0.5, 1.0), 0.5


@register("elliprg", public=False)
class EllipRG(Special):
    """``z = R_G(x, y, w)``.  Source: DLMF 19.16.3."""

    ufunc = "special.elliprg"
    flops_per_element = 100

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / 8 ∫ t (t + x)^(-3/2) (t + y)^(-1/2) (t + w)^(-1/2) dt``, and so on."""
        return AlgebraicIntegral((0.5, 0.5, 0.5), 1).vjp(z_bar * -0.25, z, *operands)


class Incomplete(SpecialBinary):
    """``z = ∫ (1 - m sin²θ)^s dθ`` from 0 to ``φ``, ``s`` half of an odd number."""

    #: Twice the exponent, and the powers of the derivative's algebraic integral.
    exponent: ClassVar[int]
    powers: ClassVar[tuple[float, ...]]
    flops_per_element = 100

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``φ_bar`` by the integrand; ``m_bar = -z_bar s ∫ sin²θ (1 - m sin²θ)^(s-1) dθ``.

        By ``t = 1 / sin²θ - 1 / sin²φ``, and by complete integrals for the whole half turns.
        """
        phi, m = operands
        one, zero = m.constant(1), m.constant(0)
        sine, cosine = Sin()(phi), Cos()(phi)
        sine = sine * Where()(cosine.exceeds(0), one, -one)
        turns = Round()((phi - Arctan2()(sine, Absolute()(cosine))) * (1 / math.pi))
        square = sine * sine
        inner = 1 - m * square
        root = Sqrt()(inner)
        integral = AlgebraicIntegral(self.powers)
        within = integral(one, inner, cosine * cosine) * (square * sine)
        whole = integral(one, 1 - m, zero) * 2
        whole = Where()(turns.equals(0), zero, turns * whole)  # of m = 1 it is infinite
        in_phi = root if self.exponent > 0 else 1 / root
        return z_bar * in_phi, z_bar * ((within + whole) * (-0.25 * self.exponent))


@register("ellipkinc")
class EllipKInc(Incomplete):
    """Legendre's incomplete integral of the first kind: ``F(φ, m) = ∫ dθ / sqrt(1 - m sin²θ)``.

    From 0 to ``φ``; derivatives in both, NaN where ``m sin²φ > 1``.  Source: DLMF 19.2.4, 19.25.5.
    """

    ufunc = "special.ellipkinc"
    exponent, powers = -1, (0.5, 1.5, 0.5)


@register("ellipeinc")
class EllipEInc(Incomplete):
    """Legendre's incomplete integral of the second kind: ``E(φ, m) = ∫ sqrt(1 - m sin²θ) dθ``.

    From 0 to ``φ``; derivatives in both, NaN where ``m sin²φ > 1``.  Source: DLMF 19.2.5, 19.25.9.
    """

    ufunc = "special.ellipeinc"
    exponent, powers = 1, (1.5, 0.5, 0.5)


@register("agm")
class Agm(SpecialBinary):
    """Arithmetic-geometric mean of ``x`` and ``y`` of one sign: ``z = π / 2 / R_F(0, x², y²)``.

    Source: DLMF 19.8.5, 19.25.1.
    """

    ufunc = "special.agm"
    flops_per_element = 60

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar s(x, y) z / x`` for ``s``, the logarithmic slope; so ``y``."""
        x, y = operands
        return z_bar * _slope(x, y, z), z_bar * _slope(y, x, z)


def _slope(x: Var, y: Var, z: Var) -> Var:
    """Of the mean ``z`` in ``x``: infinite, as its slopes, at 0 beside another ``y``.

    At infinity the mean goes as ``x / ln(x / y)``: it has the slope 0 in ``x``, and inf in ``y``.
    """
    at_zero = x.equals(0) & z.equals(0) & Absolute()(y).exceeds(0)
    slope = Where()(at_zero, Absolute()(y / x), AgmShare()(x, y) * (z / x))
    for end, other, limit in ((x, y, 0), (y, x, math.inf)):
        far = IsInf()(z) & IsInf()(end) & IsFinite()(other)
        slope = Where()(far, x.constant(limit), slope)
    return slope


@register("agm_share", public=False)
class AgmShare(SpecialBinary):
    """Logarithmic slope of the mean ``M``: ``z = d ln M / d ln x``, between 0 and 1.

    Of the means that follow, ``d ln b' = (d ln a + d ln b) / 2`` for the geometric one, and
    the difference of ``d ln a`` and ``d ln b`` is multiplied by ``(a - b) / (a + b) / 2``.
    For ``x`` far below ``y`` ``1 / ln(4 y / x)``.  Source: DLMF 19.8.1, 19.9.1.
    """

    workspace = 8.0
    flops_per_element = 100

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By the means that give the mean itself, of operands in units of the larger one."""
        x, y = xp.broadcast_arrays(*[xp.abs(v.astype("float64")) for v in operands])
        unit = xp.maximum(x, y)
        far = xp.minimum(x, y) < _FAR * unit
        a, b = (xp.where(far | (unit == 0), 1, v / unit) for v in (x, y))
        z, apart = xp.zeros(unit.shape), xp.ones(unit.shape)
        for _ in range(_MEANS):
            z = z + apart / 2
            both = a + b
            apart = apart * ((a - b) / both) / 2
            if not xp.any(xp.abs(apart) > _ENOUGH * z):
                break
            a, b = both / 2, xp.sqrt(a * b)
        small = 1 / (math.log(4) + xp.abs(xp.log(x) - xp.log(y)))
        z = xp.where(far, xp.where(x < y, small, 1 - small), z)
        return z[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar s / x``, ``y_bar = -z_bar s / y``.

        With ``s = x² y² M / π ∫ t^(-1/2) (t + x²)^(-3/2) (t + y²)^(-3/2) dt - z (1 - z)``, of
        ``x``, ``y`` and their mean ``M`` in units of the larger operand, which changes nothing;
        far out, with the square of the smaller one of ``z`` and ``1 - z``.
        """
        x, y = operands
        zero, one = (x.constant(number) for number in (0, 1))
        unit = Maximum()(Absolute()(x), Absolute()(y))
        unit = StopGradient()(Where()(unit.equals(0), one, unit))
        p, q = Absolute()(x / unit), Absolute()(y / unit)
        square, other = p * p, q * q
        integral = AlgebraicIntegral((0.5, 1.5, 1.5))(zero, square, other)
        rest = AgmShare()(y, x)
        rise = Agm()(p, q) * (square * other * integral * (1 / math.pi)) - z * rest
        far = Less()(Minimum()(p, q), x.constant(_FAR))
        rise = Where()(far, Square()(Minimum()(z, rest)), rise)
        return z_bar * (rise / x), -(z_bar * (rise / y))
