"""Hypergeometric functions, differentiable in the argument and, where it is real, in parameters.

Derivatives in parameters are the differentiated power series, summed where its terms hardly cancel.
Source of the rule: Ancarani and Gasaneo, "Derivatives of any order of the Gaussian hypergeometric
function with respect to the parameters" (2009).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import Special, conj
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Most terms of a series, its last beside the largest, its rounding, and how exact it must be.
_MOST_TERMS, _LAST, _ROUNDING, _EXACT = 5000, 1e-18, 1e-15, 1e-9
#: SciPy's ``₂F₁`` is trusted between these arguments and for parameters of this sum, unless two
#: solutions differ by so little more than a whole power; ``₁F₁`` but for ``x`` in so short a range.
_FAR, _LARGE, _DEGENERATE, _JUST_BELOW = 1e8, 30.0, 1e-4, -1.5
#: What two routines give alike is right.
_EQUAL = 1e-11
#: After so many terms there is a look at which of so many series go on.
_BLOCK, _ELEMENTS = 16, 2048
#: Below, slopes in other parameters cancel that are in proportion to one.
_PROPORTIONAL = 1e-7
#: A first term below this has lost digits.
_UNDERFLOW = 1e-280
#: The largest parameter: with larger ones SciPy's series are long, and cannot be interrupted.
_LARGEST = 1e6
#: Beyond this ``₁F₁`` of such parameters overflows, unless it is a polynomial; before its opposite,
#: of parameters up to a thousand, some terms of an asymptotic series are exact.
_OVERFLOWING = 1e9
_ASYMPTOTIC, _ASYMPTOTIC_TERMS, _FALLING = 1e3, 6, 200.0
#: From here on SciPy's ``₀F₁`` may use an asymptotic series.
_DIVIDING = 1e5
#: A factor of a term's numerator, and its slopes by number of parameter.
Factor = tuple[Any, dict[int, Any]]


class Series(Special):
    """``z = Σ Π (aᵢ)ₙ / (b)ₙ xⁿ / n!``, operands all ``aᵢ``, ``b`` and ``x``.

    With complex ``x`` parameters are real still, and held constant.  NaN for parameters beyond a
    million, with which a number takes SciPy seconds.
    """

    kinds = "fc"
    flops_per_element = 100

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine; where that may lose digits, the series where it has them.

        Elsewhere NaN where SciPy's routine for complex numbers differs.
        """
        z = xp.asarray(self.plain(xp, *operands))
        if z.dtype.kind == "c":
            return z[()]
        shaped = xp.broadcast_arrays(*operands)
        doubtful = self.doubtful(xp, *shaped)
        if not doubtful.any():
            return z[()]
        chosen = [v[doubtful] for v in shaped]
        near = z[doubtful]
        series = SeriesInParameters((0,) * (len(chosen) - 1)).summed(xp, *chosen)
        other = self.plain(xp, *[v.astype("complex128") for v in chosen]).real
        differ = xp.isfinite(other) & (xp.abs(other - near) > xp.abs(near) * _EQUAL)
        z[doubtful] = xp.where(xp.isnan(series), xp.where(differ, math.nan, near), series)
        return z[()]

    def plain(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, which takes real parameters only."""
        *parameters, x = operands
        if x.dtype.kind == "c":
            parameters = [xp.where(p.imag == 0, p.real, math.nan) for p in parameters]
        return getattr(xp.special, self.name)(*_bounded(xp, parameters), x)

    def doubtful(self, xp: Any, *operands: Any) -> Any:
        """Where SciPy's routine for real numbers may lose digits: by default nowhere."""
        return operands[0] != operands[0]

    def holds(self, result: Type) -> bool:
        """Parameters beside complex ``x``."""
        return isinstance(result, ArrayType) and result.dtype.kind == "c"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (Π aᵢ / b F(aᵢ + 1; b + 1; x))*``; parameters by their series."""
        *parameters, x = operands
        in_parameters: list[Var | None] = [None] * len(parameters)
        if x.dtype.kind == "c":
            parameters = [StopGradient()(p) for p in parameters]
        else:
            for i in range(len(parameters)):
                counts = tuple([int(i == j) for j in range(len(parameters))])
                in_parameters[i] = z_bar * SeriesInParameters(counts)(*operands)
        slope = self(*[p + 1 for p in parameters], x) / parameters[-1]
        for a in parameters[:-1]:
            slope = slope * a
        return *in_parameters, z_bar * conj(slope)


@register("series_in_parameters", public=False)
class SeriesInParameters(Special):
    """Derivative of ``F(aᵢ; b; x)``, ``counts`` times in each parameter, ``in_x`` times in ``x``.

    NaN where the series does not give 9 digits in 5000 terms: about where ``x > 0.99`` for
    ``₂F₁`` and ``|x| > 700`` for ``₁F₁``, and where it cancels: for ``₀F₁`` of ``x`` far below 0,
    for others where a parameter, or ``b`` less it for ``x < 0``, is.
    """

    counts: tuple[int, ...]
    in_x: int = 0
    flops_per_element = 10_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sum in double precision."""
        return self.summed(xp, *operands)

    def summed(self, xp: Any, *operands: Any) -> Any:
        """The sums, of arguments of like size together."""
        shaped = xp.broadcast_arrays(*[v.astype("float64") for v in operands])
        flat = [v.reshape(-1) for v in shaped]
        x = flat[-1]
        found = xp.zeros(x.shape)
        # What is summed is x / (x - 1) of negative x where there are two parameters above.
        size = xp.where(x < 0, x / (x - 1), x) if len(flat) == 4 else xp.abs(x)
        longest_first = xp.argsort(-size)
        for start in range(0, len(x), _ELEMENTS):
            piece = longest_first[start : start + _ELEMENTS]
            for again in (False, True):
                of = [v[piece] for v in flat]
                found[piece] = self._summed(xp, of[:-2], *of[-2:], again=again)
                piece = piece[xp.isnan(found[piece])]
                if not len(piece):
                    break
        return found.reshape(shaped[-1].shape).astype(operands[0].dtype)

    def _summed(self, xp: Any, uppers: list[Any], lower: Any, x: Any, *, again: bool) -> Any:
        """Sum Taylor polynomials in the parameters.

        For ``x < 0`` after Kummer's or Pfaff's transformation of the last ``aᵢ``, so that terms
        keep their sign; ``again``, where that cancels, after none or of the first.
        Source: DLMF 13.2.39, 15.8.1.
        """
        count = len(uppers)
        if again and count == 2:
            m, n, of_lower = self.counts
            mirrored = SeriesInParameters((n, m, of_lower), self.in_x)
            return mirrored._summed(xp, uppers[::-1], lower, x, again=False)
        x = xp.where(x < 1, x, math.nan) if count == 2 else x
        term = xp.zeros([*[n + 1 for n in self.counts], *x.shape])
        term[(0,) * len(self.counts)] = 1
        factors: list[Factor] = [(a, {i: xp.ones(x.shape)}) for i, a in enumerate(uppers)]
        for j in range(self.in_x):
            self._multiply(term, factors, lower, xp.ones(x.shape) * (j + 1), j)
        factors = [(a + self.in_x, slopes) for a, slopes in factors]
        lower, w = lower + self.in_x, x
        left = xp.minimum(0 if again else x, 0)
        scale = xp.ones(x.shape)
        if count == 1 and not again:
            scale, w = xp.exp(left), xp.abs(x)
        if count == 2:
            log = -xp.log1p(-left)
            scale, term = xp.exp(factors[0][0] * log), _times_power(xp, term, log)
            w = xp.where(x < 0, x / (x - 1), x)
        term, w = term * scale, xp.where(scale > _UNDERFLOW, w, math.nan)
        if count and not again:
            a, negative = factors[-1][0], x < 0
            if sum(self.counts) and not self.counts[count - 1]:
                # What is in proportion to it cancels.
                w = xp.where(negative & (xp.abs(a) < _PROPORTIONAL) & (a != 0), math.nan, w)
            slopes = {count - 1: xp.where(negative, -1.0, 1.0), count: xp.where(negative, 1.0, 0.0)}
            factors[-1] = xp.where(negative, lower - a, a), slopes
        return self._sum(xp, term, factors, lower, w)

    def _sum(self, xp: Any, term: Any, factors: list[Factor], lower: Any, w: Any) -> Any:
        """The series that begins with ``term``; NaN where it is not exact enough.

        Of the elements up to the last whose series goes on.  After the first terms, these change
        so little that a look at some finds the largest.
        """
        total, largest = term.copy(), xp.abs(term)
        # Terms may be small and grow again until all factors are positive.
        least = reduce(xp.minimum, [c for c, _ in factors], lower)
        done, ended = xp.zeros(w.shape, bool), ~xp.isfinite(w + lower)
        axes = tuple(range(len(self.counts)))
        on = slice(len(w))
        for k in range(_MOST_TERMS):
            if k % _BLOCK == 0:
                (going,) = xp.nonzero(~(done | ended))
                if not len(going):
                    break
                on = slice(int(going[-1]) + 1)
                term, sums = term[..., on].copy(), total[..., on]
                below, of_w = lower[on], w[on]
                here = [(v[on], {i: s[on] for i, s in slopes.items()}) for v, slopes in factors]
            self._multiply(term, here, below, of_w, k)
            sums += term
            last = k % _BLOCK == _BLOCK - 1
            if k < _BLOCK or last:
                size = xp.abs(term)
                largest[..., on] = xp.maximum(largest[..., on], size)
            if last:
                near = xp.all(size * k <= _LAST * largest[..., on], axis=axes)
                done[on] |= near & (k > -least[on])
                ended[on] |= ~xp.all(xp.isfinite(term), axis=axes)
        found = total[self.counts]
        share = _EXACT if sum(self.counts) else _EQUAL
        exact = done & (largest[self.counts] * _ROUNDING <= xp.abs(found) * share)
        orders = math.prod([math.factorial(n) for n in self.counts])
        return xp.where(exact, found * orders, math.nan)

    def _multiply(self, term: Any, factors: list[Factor], lower: Any, w: Any, k: int) -> None:
        """Make ``term`` the next one, in place: by polynomials, and what is left by numbers."""
        below = lower + k
        axis = len(factors)
        ratio = w / (below * (k + 1))
        for value, slopes in factors:
            if max([self.counts[i] for i in slopes]):
                rises = []
                for i, slope in slopes.items():
                    if self.counts[i]:
                        before, after = _neighbours(term, i)
                        rises.append((after, term[before] * slope))
                term *= value + k
                for after, rise in rises:
                    term[after] += rise
            else:
                ratio *= value + k
        for n in range(1, term.shape[axis]):
            here, before = ((slice(None),) * axis + (m,) for m in (n, n - 1))
            term[here] -= term[before] / below
        term *= ratio

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """By the next derivatives."""
        bars = []
        for i in range(len(self.counts)):
            counts = tuple([n + (i == j) for j, n in enumerate(self.counts)])
            bars.append(z_bar * SeriesInParameters(counts, self.in_x)(*operands))
        return *bars, z_bar * SeriesInParameters(self.counts, self.in_x + 1)(*operands)


def _bounded(xp: Any, parameters: Sequence[Any]) -> list[Any]:
    """Parameters, NaN where they are beyond what can be computed in a moment."""
    return [xp.where(xp.abs(p) <= _LARGEST, p, math.nan) for p in parameters]


def _neighbours(term: Any, axis: int) -> tuple[Any, Any]:
    """Indices of all powers but the highest, and but the lowest, along ``axis``."""
    left = (slice(None),) * axis
    return (*left, slice(None, -1)), (*left, slice(1, None))


def _times_power(xp: Any, term: Any, log: Any) -> Any:
    """``term`` times ``exp(a log)``, a polynomial in the first parameter's change ``a``."""
    total = power = term
    for n in range(1, term.shape[0]):
        before, after = _neighbours(term, 0)
        shifted = xp.zeros_like(power)
        shifted[after] = power[before]
        power = shifted * log / n
        total = total + power
    return total


@register("hyp0f1", public=False)
class Hyp0f1(Series):
    """Confluent limit function: ``z = ₀F₁(; b; x)``."""

    workspace = 1.2

    def plain(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, but for ``b = 1`` far out, where it divides by 0: ``I₀(2 √x)``."""
        b, x = operands
        if x.dtype.kind == "c":
            return super().plain(xp, b, x)
        far = (b == 1) & (x > _DIVIDING)
        near = super().plain(xp, b, xp.where(far, 0, x))
        if not far.any():
            return near
        found = xp.special.i0(2 * xp.sqrt(xp.where(far, x, 0)))
        return xp.where(far, found, near)[()].astype(near.dtype)


def _far_out(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """``₁F₁(a; b; -x)`` of very large ``x``."""
    special = xp.special
    term = total = xp.ones_like(x)
    for s in range(_ASYMPTOTIC_TERMS):
        term = term * (a + s) * (a - b + 1 + s) / ((s + 1) * x)
        total = total + term
    sign = special.gammasgn(b) * special.gammasgn(b - a)
    power = special.gammaln(b) - special.gammaln(b - a) - a * xp.log(x)
    small = (abs(a) <= _ASYMPTOTIC) & (abs(b) <= _ASYMPTOTIC)
    return xp.where(small, sign * xp.exp(power) * total, math.nan)


@register("hyp1f1", public=False)
class Hyp1f1(Series):
    """Kummer's function: ``z = ₁F₁(a; b; x)``."""

    workspace = 2.0

    def doubtful(self, xp: Any, *operands: Any) -> Any:
        """For negative ``b``, and large parameters just below 0."""
        a, b, x = operands
        below = (x < 0) & (x > _JUST_BELOW) & (xp.abs(a) + xp.abs(b) > _LARGE)
        return ((b < -1) & (xp.abs(x) <= _OVERFLOWING)) | below

    def plain(self, xp: Any, *operands: Any) -> Any:
        """SciPy's routine, which takes the longer the larger ``x`` is: infinite far out.

        Far out on the other side ``Γ(b) / Γ(b - a) (-x)⁻ᵃ Σ (a)ₛ (a - b + 1)ₛ / s! (-x)⁻ˢ``; there
        NaN for parameters beyond a thousand.
        Source: DLMF 13.7.1, 13.7.2.
        """
        if operands[-1].dtype.kind == "c":
            return super().plain(xp, *operands)
        a, b = _bounded(xp, operands[:2])
        x = operands[-1]
        # Of negative x also nearer, where the terms of the asymptotic series fall.
        falling = (xp.abs(a) + _ASYMPTOTIC_TERMS) * (xp.abs(a - b) + _ASYMPTOTIC_TERMS + 1)
        beyond = (abs(x) > _OVERFLOWING) | (x < falling * -_FALLING)
        beyond = beyond & ((a > 0) | (a != xp.floor(a)))
        near = super().plain(xp, a, b, xp.where(beyond, 0, x))
        if not beyond.any():
            return near
        infinite = xp.special.gammasgn(a) * xp.special.gammasgn(b) * math.inf
        far = xp.where(x > 0, infinite, _far_out(xp, a, b, abs(x)))
        return xp.where(beyond, far, near)[()].astype(near.dtype)


@register("hyp2f1", public=False)
class Hyp2f1(Series):
    """Gauss's function: ``z = ₂F₁(a, b; c; x)``."""

    workspace = 1.0

    def doubtful(self, xp: Any, *operands: Any) -> Any:
        """Beside degenerate parameters, for large or negative ones, and far out."""
        a, b, c, x = operands
        found = (c < 0) | (xp.abs(x) > _FAR) | (xp.abs(a) + xp.abs(b) + c > _LARGE)
        for v in (a - b, c - a - b):
            apart = xp.abs(v - xp.round(v))
            found = found | ((apart > 0) & (apart < _DEGENERATE))
        return found
