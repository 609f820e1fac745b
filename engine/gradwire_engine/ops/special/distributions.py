"""Student's distribution function and its quantile."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import Special, SpecialBinary
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Sqrt
from gradwire_engine.ops.pointwise.exponential import Exp, Log, Log1p
from gradwire_engine.ops.pointwise.selection import Minimum, Where
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.incomplete_beta import fraction_in_ab
from gradwire_engine.ops.special.quadratures import bell, half_line, pieces, segment
from gradwire_engine.ops.special.tails import settled

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Up to this ``df`` the first derivative is that of a continued fraction, in which it loses as many
#: digits as ``df`` has.
_SUMMED = 5e2
#: Squares of larger numbers overflow, and those of their reciprocals underflow.
_SQUARED = 1e150
#: Below this, so many terms of a series have all digits.
_SMALL, _TERMS = 1e-2, 8
#: The shift of an argument to the right, and the number of terms of an asymptotic series there.
_MOVED, _ASYMPTOTIC = 8, 9
#: Up to here later derivatives cancel.
_LEAST = 5e-9
#: Nodes of a quadrature from 0, or in a tail from this ``df`` on.
_NODES, _STEEP = 24, 1e2
#: Below this argument the density rises with every ``df``.
_RISING = 1.5


@register("stdtr")
class Stdtr(SpecialBinary):
    """Student's distribution function: ``z = P(T ≤ t)`` for ``df`` degrees of freedom.

    ``z = I_x(df / 2, 1/2) / 2`` for ``t < 0``, ``x = df / (df + t²)``; derivatives in both.
    Source: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2, 28.2.
    """

    ufunc = "special.stdtr"
    flops_per_element = 100

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``t_bar`` by the density, ``df_bar`` by the fraction for ``I`` or by an integral."""
        df, t = operands
        in_df = StdtrInDf(1)(df, t, df.constant(0))
        return z_bar * in_df, z_bar * Exp()(log_student(t, df))


@register("stdtrit")
class Stdtrit(SpecialBinary):
    """Student's quantile: ``P(T ≤ z) = p`` for ``df`` degrees of freedom.

    Convention: infinite slope at 0 and 1.
    """

    ufunc = "special.stdtrit"
    flops_per_element = 300

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``p_bar`` by the reciprocal density; ``df_bar`` such that ``p`` stays.

        That in units of the probability of the tail, as far out the density underflows.
        """
        df, p = operands
        unit = StopGradient()(Log()(Minimum()(p, 1 - p)))
        ln_density = log_student(z, df)
        in_df = StdtrInDf(1)(df, z, -unit) * Exp()(unit - ln_density)
        return -(z_bar * in_df), z_bar * Exp()(-ln_density)


@register("stdtr_in_df", public=False)
class StdtrInDf(Special):
    """Derivative number ``n > 0`` of ``P(T ≤ t)`` in the degrees of freedom, times ``exp(scale)``.

    Relative error below 1e-9 for ``n = 1``; NaN unless ``df`` is positive, and of later ones where
    it is so small that they cancel.
    """

    n: int
    flops_per_element = 10_000

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """In double precision: a fraction for ``n = 1`` and ``df`` not large, else integrals."""
        df, t, scale = xp.broadcast_arrays(*operands)
        valid = (df > (0 if self.n == 1 else _LEAST)) & (t == t)
        size = xp.abs(t.astype("float64"))
        moves = valid & (size > 0) & (size < math.inf) & (df < math.inf)
        v, s = (xp.where(moves, x, 1).astype("float64").reshape(-1) for x in (df, size))
        found, moves = xp.zeros(v.shape), moves.reshape(-1)
        simple = (v <= _SUMMED) & (s < _SQUARED) & (self.n == 1)
        outer = v * (v + 5) < (v + 2) * (v + s * s)
        short = (v > _STEEP) | ((s < _RISING) & (s < 10 * xp.sqrt(v)))
        for chosen, rule in (
            (moves & simple & outer, partial(_fraction, outer=True)),
            (moves & simple & ~outer, partial(_fraction, outer=False)),
            (moves & ~simple & short, partial(self._integral, short=True)),
            (moves & ~simple & ~short, partial(self._integral, short=False)),
        ):
            for piece in pieces(xp, chosen, v):
                found[piece] = rule(xp, v[piece], s[piece])
        shaped = found.reshape(valid.shape) * xp.sign(t) * xp.exp(scale)
        return xp.where(valid, shaped, math.nan).astype(operands[0].dtype)

    def _integral(self, xp: Any, v: Any, t: Any, *, short: bool) -> Any:
        """From 0 to ``t`` while the density rises with ``df``, else beyond; ``t = √v sinh y``."""
        ln_beta, end = xp.special.betaln(v / 2, 0.5), xp.arcsinh(t / xp.sqrt(v))
        rises = [_rise(xp, v / 2, k) for k in range(self.n)]

        def integrand(y: Any) -> Any:
            share, growth = _share_and_growth(xp, y)
            slopes = [_log_slope(xp, v, share, growth, rise, k + 1) for k, rise in enumerate(rises)]
            return xp.exp(growth * (v * -0.5) - ln_beta) * bell(self.n, slopes)

        fall = xp.tanh(end)
        if short:
            reach = 76 / v / (fall + xp.sqrt(fall**2 + 76 / v * (1 - fall**2)))
            rising = t < _RISING
            start, length = xp.where(rising, 0, end), xp.where(rising, end, -reach)
            return segment(xp, lambda w: integrand(start + xp.abs(w)), length, _NODES)
        near = 1 / (1 + xp.sqrt(v) + v * fall)
        return -half_line(xp, lambda w: integrand(end + w), near, 1 / v + 0.25 / xp.sqrt(v))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``df_bar`` by the next derivative, ``t_bar`` by the density's."""
        df, t, scale = operands
        slopes = [LogStudentInDf(k)(df, t) for k in range(1, self.n + 1)]
        in_t = settled(t, Exp()(log_student(t, df) + scale) * bell(self.n, slopes))
        return z_bar * StdtrInDf(self.n + 1)(df, t, scale), z_bar * settled(df, in_t), None


@register("log_student_in_df", public=False)
class LogStudentInDf(SpecialBinary):
    """Derivative number ``n > 0`` of the logarithm of Student's density in ``df``."""

    n: int
    flops_per_element = 200

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """By the share ``t² / (df + t²)``, in whose powers nothing cancels."""
        v, t = xp.broadcast_arrays(*[x.astype("float64") for x in operands])
        share, growth = _share_and_growth(xp, xp.arcsinh(xp.abs(t) / xp.sqrt(v)))
        rise = _rise(xp, v / 2, self.n - 1)
        z = _log_slope(xp, v, share, growth, rise, self.n)
        return z[()].astype(operands[0].dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``df_bar`` by the next one, ``t_bar = ± z_bar n! t (1 - t²) / (df + t²)ⁿ⁺¹``."""
        df, t = operands
        square = t * t
        total = df + square
        in_t = (t / total) * ((1 - square) / total) * math.factorial(self.n)
        for _ in range(self.n - 1):
            in_t = -(in_t / total)
        return z_bar * LogStudentInDf(self.n + 1)(df, t), z_bar * settled(t, in_t)


def log_student(t: Var, df: Var) -> Var:
    """Logarithm of Student's density; of the normal one for infinite ``df``.

    That is ``(1 + t² / df)^(-(df + 1) / 2) / (sqrt(df) B(df / 2, 1 / 2))``.
    """
    half, one = (df.constant(number) for number in (0.5, 1))
    normal = df.equals(math.inf)
    df = Where()(normal, one, df)
    shape = BetaLn()(df * 0.5, half) + Log()(df) * 0.5
    z = log1p_square(t / Sqrt()(df)) * ((df + 1) * -0.5) - shape
    return Where()(normal, t * t * -0.5 - math.log(2 * math.pi) / 2, z)


def log1p_square(y: Var) -> Var:
    """``ln(1 + y²)``, also where the square overflows."""
    size, one = Absolute()(y), y.constant(1)
    large = size.exceeds(1 / finfo(y.dtype).eps)
    safe = Where()(large, one, y)
    return Where()(large, Log()(size) * 2, Log1p()(safe * safe))


def _share_and_growth(xp: Any, y: Any) -> tuple[Any, Any]:
    """``tanh² y`` and ``ln cosh² y``, of ``t = √df sinh y`` the share and ``ln(1 + t² / df)``."""
    near = xp.minimum(y, 300)
    square = xp.sinh(near) ** 2
    return square / (1 + square), xp.log1p(square) + 2 * (y - near)


def _log_slope(xp: Any, v: Any, share: Any, growth: Any, rise: Any, n: int) -> Any:
    """Derivative number ``n`` of the density's logarithm in ``df``, from that of ``_rise``.

    Of the terms ``c sⁱ v⁻ᵐ`` of the second one, with the share ``s``, which changes by
    ``-s (1 - s) / v``, also the later ones are made.
    """
    if n == 1:
        series = share * 0 + 1 / _TERMS
        for k in range(_TERMS - 1, 1, -1):
            series = series * share + 1 / k
        excess = xp.where(share < _SMALL, series * share**2, growth - share)
        return (rise + share / v - excess) * 0.5
    terms = {(2, 1): 1, (1, 2): -2, (2, 2): 1}
    for _ in range(n - 2):
        later: dict[tuple[int, int], int] = defaultdict(int)
        for (i, m), c in terms.items():
            later[i, m + 1] -= (i + m) * c
            later[i + 1, m + 1] += i * c
        terms = later
    total = sum([share**i / v**m * float(c) for (i, m), c in terms.items()])
    return (rise * 0.5 ** (n - 1) + total) * 0.5


def _rise(xp: Any, a: Any, n: int = 0) -> Any:
    """Derivative number ``n`` of ``ψ(a + 1/2) - ψ(a) - 1 / 2a``.

    Moved to the right of 8 and there its asymptotic series.  Source: DLMF 5.5.2, 5.11.2, of which
    like terms are subtracted.
    """
    near, total = a < _MOVED, 0.0
    sign = (-1) ** n
    for k in range(_MOVED):
        u = xp.where(near, a, 1) + k
        if n:
            total = total + (u ** (-n - 1) + (u + 1) ** (-n - 1)) * 0.5 - (u + 0.5) ** (-n - 1)
        else:
            total = total + 0.25 / (u * (u + 1) * (u + 0.5))
    w = xp.where(near, a + _MOVED, a)
    inverse, series = 0.25 / w**2, 0.0
    for k, bernoulli in [*enumerate(xp.special.bernoulli(2 * _ASYMPTOTIC)[2::2], 1)][::-1]:
        weight = float(bernoulli) * math.prod(range(2 * k, 2 * k + n))
        series = (series + (4.0**k - 1) / k * weight) * inverse
    return (xp.where(near, total * math.factorial(n), 0) + series / w**n) * sign


def _fraction(xp: Any, v: Any, t: Any, *, outer: bool) -> Any:
    """The slope of ``1 - I_x(v / 2, 1/2) / 2`` for positive ``t``, ``x = v / (v + t²)``."""
    square = t * t
    x, rest = v / (v + square), square / (v + square)
    a, b = v / 2, xp.full_like(v, 0.5)
    psi_rise = -_rise(xp, a + 0.5) - 1 / (v + 1) if outer else _rise(xp, a) + 1 / v
    places = (a, b, x, rest) if outer else (b, a, rest, x)
    density, _, in_a = fraction_in_ab(xp, *places, in_a=outer, psi_rise=psi_rise)
    return (in_a if outer else -in_a) * -0.25 - density * (0.25 if outer else 0.25 / v)
