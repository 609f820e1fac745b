"""Incomplete beta functions, differentiable in all operands and to all orders.

The derivatives in the parameters are not in SciPy. First ones are those of a continued fraction,
others integrals of the differentiated density on that side of ``x`` on which the integrand keeps
its sign. Source of the problem: Boik and Robison-Cox, "Derivatives of the incomplete beta function"
(1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import Special
from gradwire_engine.ops.pointwise.exponential import Log, Log1p
from gradwire_engine.ops.special.densities import BetaDensity
from gradwire_engine.ops.special.gamma import DigammaRise, polygamma_of, polygamma_rise
from gradwire_engine.ops.special.incomplete import where_defined
from gradwire_engine.ops.special.quadratures import (
    NEGLIGIBLE,
    Slopes,
    half_line,
    mixed_powers,
    pieces,
    segment,
)

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Down to here logarithms of numbers are nodes of an integral over their distance from 1.
_NEXT_TO_0 = 1e-25
#: Of smaller parameters, slopes in the other one cancel in the fraction.
_SMALL = 1e-2
#: Smaller values are those of a fraction, which is long for parameters beyond this sum.
_TAIL, _LONG = 1e-200, 1e7
#: The most terms of a fraction for a slope; nodes of an integral.
_MOST_TERMS, _NODES = 82, 24


class _OfBeta(Special):
    """``I_x(a, b)``, or its rest to 1 of opposite sign."""

    flops_per_element = 100
    sign: ClassVar[int] = 1

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, which has few digits where it nearly underflows: there by a fraction."""
        z = xp.asarray(super().kernel(xp, *operands))
        low = (z < _TAIL) & (operands[0] + operands[1] < _LONG)
        if z.dtype.itemsize == 8 and low.any():
            a, b, x = (v[low] for v in xp.broadcast_arrays(*operands))
            places = (a, b, x, 1 - x) if self.sign > 0 else (b, a, 1 - x, x)
            z[low] = fraction_in_ab(xp, *places, in_a=True)[1]
        return z[()]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar xᵃ⁻¹ (1 - x)ᵇ⁻¹ / B(a, b)``; ``a_bar`` and ``b_bar`` by quadrature."""
        return BetaIncInAB(0, 0).vjp(z_bar if self.sign > 0 else -z_bar, z, *operands)


@register("betainc", public=False)
class BetaInc(_OfBeta):
    """Regularised incomplete beta function: ``z = I_x(a, b)``."""

    ufunc = "special.betainc"


@register("betaincc", public=False)
class BetaIncC(_OfBeta):
    """Complement of the regularised incomplete beta function: ``z = 1 - I_x(a, b)``."""

    ufunc = "special.betaincc"
    sign = -1


@register("betainc_in_ab", public=False)
class BetaIncInAB(Special):
    """Derivative of ``I_x(a, b)``, ``m`` times in ``a`` and ``n`` times in ``b``, not both 0.

    Relative error below 1e-9 for ``m + n = 1`` and parameters from 1e-2 to 1e3; NaN unless they
    are positive.
    """

    m: int
    n: int
    flops_per_element = 10_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """In double precision: a continued fraction if ``m + n`` is 1, else integrals."""
        a, b, x = xp.broadcast_arrays(*operands)
        valid = (a > 0) & (a < math.inf) & (b > 0) & (b < math.inf) & (x >= 0) & (x <= 1)
        a, b, x = (xp.where(valid, v, 0.5).astype("float64").reshape(-1) for v in (a, b, x))
        found = xp.zeros(a.shape)
        left = x * (a + b + 2) < a + 1
        near, *others = (xp.where(left, *v) for v in ((a, b), (b, a), (x, 1 - x)))
        terms = _terms_in_ab(xp, near, *others)
        of_near = left if self.m else ~left
        simple = (terms < _MOST_TERMS) & (self.m + self.n == 1) & (of_near | (near > _SMALL))
        for chosen, size, rule in (
            (simple & left, terms, self._fraction),
            (simple & ~left, terms, self._fraction),
            (~simple, a, self._integral),
        ):
            for piece in pieces(xp, chosen, size):
                found[piece] = rule(xp, a[piece], b[piece], x[piece])
        shaped = found.reshape(valid.shape)
        return xp.where(valid, shaped, math.nan).astype(operands[0].dtype)

    def _fraction(self, xp: Any, a: Any, b: Any, x: Any) -> Any:
        if xp.any(x * (a + b + 2) >= a + 1):  # of the other tail
            return -fraction_in_ab(xp, b, a, 1 - x, x, in_a=self.m == 0)[2]
        return fraction_in_ab(xp, a, b, x, 1 - x, in_a=self.m == 1)[2]

    def _integral(self, xp: Any, a: Any, b: Any, x: Any) -> Any:
        """The integral up to ``x`` below the mean, else that beyond it.

        By ``1 / B(a, b) = a Γ(a + b) / (Γ(a + 1) Γ(b))`` of the smaller parameter nothing cancels.
        """
        m, n, low = self.m, self.n, a < b

        def rise(k: int, *, of_a: bool) -> Any:
            p, q, moved = (a, b, low) if of_a else (b, a, ~low)
            return polygamma_rise(xp, k, p + moved, q - moved)

        slopes = _slopes(m, n, rise, lambda k: xp.special.polygamma(k, a + b))
        least = xp.minimum(a, b)
        pole = 1 / least
        mean = slopes[1, 0] + xp.where(low, pole, 0) if m else slopes[0, 1] + xp.where(low, 0, pole)
        lower = xp.log(x) <= -mean if m else xp.log1p(-x) >= -mean
        ln_scale = xp.special.betaln(a, b) + xp.log(least)

        def slope(ln_t: Any, ln_rest: Any) -> Any:
            shifted = _shifted(slopes, ln_t, ln_rest)
            total = mixed_powers(m, n, shifted) * least
            if m:
                total = total + xp.where(low, mixed_powers(m - 1, n, shifted) * m, 0)
            if n:
                total = total + xp.where(low, 0, mixed_powers(m, n - 1, shifted) * n)
            return xp.exp(a * ln_t + b * ln_rest - ln_scale) * total

        # u = start exp(-w) below, where u = t, and above, where u = 1 - t.
        start = xp.where(lower, x, xp.maximum(x, _NEXT_TO_0))
        ln_end = xp.where(lower, xp.log(start), xp.log1p(-start))

        def integrand(w: Any) -> Any:
            near = ln_end - w
            far = xp.log(-xp.expm1(near))
            ln_t, ln_rest = xp.where(lower, near, far), xp.where(lower, far, near)
            return slope(ln_t, ln_rest) * xp.exp(-far)

        # The far power grows as the near one falls, at most by this exponent.
        p, q, ends, rest = (
            xp.where(lower, *v) for v in ((a, b), (b, a), (start, 1 - start), (1 - start, start))
        )
        rest = xp.maximum(rest, 1e-300)
        gain = xp.maximum(q - 1, 0) * -xp.log(rest)
        fall = 2 * p + 2 + xp.abs(q - 1) * ends / rest
        total = half_line(xp, integrand, 1 / fall, (1 + gain / NEGLIGIBLE) / p)
        beside_0 = x < start
        if beside_0.any():
            ln_x = xp.log(xp.maximum(x, 5e-324))

            def in_logarithm(y: Any) -> Any:
                ln_rest = xp.log1p(-xp.exp(ln_x + y))
                return slope(ln_x + y, ln_rest) * xp.exp(-ln_rest)

            before = segment(xp, in_logarithm, xp.log(start) - ln_x, _NODES)
            total = total + xp.where(beside_0, before, 0)
        return xp.where(lower, total, -total)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar`` and ``b_bar`` by the next derivatives, ``x_bar`` by the density's."""
        a, b, x = operands
        density = BetaDensity()(a, b, x) * where_defined(z)
        if self.m + self.n:

            def rise(k: int, *, of_a: bool) -> Var:
                return DigammaRise(k)(*((a, b) if of_a else (b, a)))

            slopes = _slopes(self.m, self.n, rise, lambda k: polygamma_of(k, a + b))
            density = density * mixed_powers(
                self.m, self.n, _shifted(slopes, Log()(x), Log1p()(-x))
            )
        return (
            z_bar * BetaIncInAB(self.m + 1, self.n)(a, b, x),
            z_bar * BetaIncInAB(self.m, self.n + 1)(a, b, x),
            z_bar * density,
        )


def _terms_in_ab(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """Terms of the fraction in ``x < (a + 1) / (a + b + 2)`` that an error of 1e-9 takes.

    They grow as the square root of ``a``, and are few far below that bound: as measured.
    """
    near = x * (a + b + 2) / (a + 1)
    return (12 + 2.2 * xp.sqrt(a)) * (0.3 + 0.7 * (near * near * near))


def fraction_in_ab(
    xp: Any, a: Any, b: Any, x: Any, rest: Any, *, in_a: bool, psi_rise: Any = None
) -> tuple[Any, Any, Any]:
    """``xᵃ (1 - x)ᵇ / (a B(a, b))``, ``I_x(a, b)`` and a slope of it.

    For ``x < (a + 1) / (a + b + 2)``. That of the even part of its continued fraction.
    ``psi_rise`` is ``ψ(a + b)`` less ``ψ(b)``, or ``ψ(a + 1)`` if it is that in ``a``.

    Source: DLMF 8.17.22; DiDonato and Morris, "Algorithm 708" (1992), (9).
    """
    count = math.ceil(float(xp.max(_terms_in_ab(xp, a, b, x))))
    lean, turn = a * rest - b * x + 1, rest if in_a else -x
    below, slope, above, above_slope = 1.0, 0.0, 0.0, 0.0
    share_of_c, twice = 1 / (a + (2 * count + 1)), 2 - x
    for m in range(count, -1, -1):
        inverse, d = 1 / below, share_of_c
        share_of_c = 1 / (a + abs(2 * m - 1))
        # The last numerators without their factor a, as nothing cancels where it is small.
        lead, rise = (a + m, m + 1) if m else (1.0, -1)
        tilt, part, weight = lean + m * twice, above * inverse, lead * d
        ratio = m * x * share_of_c
        fall = (b - m) * ratio
        part_slope = (above_slope - part * slope) * inverse
        below = m + fall + weight * tilt + part
        if in_a:
            slope = (tilt * (rise * d) + lead * turn) * d - fall * share_of_c + part_slope
        else:
            slope = weight * turn + ratio + part_slope
        if m == 0:
            break
        n, total = a + (m - 1) if m > 1 else 1.0, a + b + (m - 1)
        share = n * (ratio * ratio * (1 / m))
        above = share * total * (b - m)
        if in_a:
            above_slope = share * (b - m) * (1 - total * (2 * share_of_c - (1 / n if m > 1 else 0)))
        else:
            above_slope = share * (total + b - m)
    if psi_rise is None:
        psi_rise = polygamma_rise(xp, 0, b, a)
        if in_a:
            psi_rise = xp.special.digamma(a + b) - xp.special.digamma(a + 1)
    # Of a number near 1 its distance has more digits.
    small, less = xp.minimum(x, rest), x < rest
    near, far = xp.log(small), xp.log1p(-small)
    log, log_rest = xp.where(less, near, far), xp.where(less, far, near)
    turn = psi_rise + (log if in_a else log_rest)
    density = xp.exp(a * log + b * log_rest - xp.special.betaln(a, b)) / a
    z = density / below
    return density, z, xp.where((x > 0) & (rest > 0), z * (turn - slope / below), 0)


def _slopes(m: int, n: int, rise: Callable[..., Any], both: Callable[[int], Any]) -> Slopes:
    """Derivatives of ``-ln B(a, b)``, to ``m`` times in ``a`` and ``n`` times in ``b``."""
    return {
        (i, j): both(i + j - 1) if i and j else rise(i + j - 1, of_a=i > 0)
        for i in range(m + 1)
        for j in range(n + 1)
        if i + j
    }


def _shifted(slopes: Slopes, ln_t: Any, ln_rest: Any) -> Slopes:
    """The slopes of the density's logarithm: of first order, ``ln t`` and ``ln(1 - t)`` more."""
    more = {(1, 0): ln_t, (0, 1): ln_rest}
    return {key: slope + more[key] if key in more else slope for key, slope in slopes.items()}
