"""Distribution functions and quantiles that SciPy names after Cephes: Student, χ², F, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, macro, register
from gradwire_engine.ops.elementwise import Special, SpecialBinary
from gradwire_engine.ops.pointwise.comparison import Less, LogicalAnd
from gradwire_engine.ops.pointwise.exponential import Exp, Log, Log1p
from gradwire_engine.ops.pointwise.selection import Floor, Sign, Where
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.gamma import DigammaRise
from gradwire_engine.ops.special.hypergeometric import SeriesInParameters
from gradwire_engine.ops.special.incomplete import (
    BetaInc,
    BetaIncC,
    BetaIncInAB,
    GammaInc,
    GammaIncC,
)
from gradwire_engine.ops.special.inverses import BetaIncCInv, BetaIncInv, GammaIncCInv

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("stdtr")
class Stdtr(SpecialBinary):
    """Student's distribution function: ``z = P(T ≤ t)`` for ``df`` degrees of freedom.

    ``z = I_x(df / 2, 1/2) / 2`` for ``t < 0``, ``x = df / (df + t²)``; derivatives in both, that in
    ``df`` to 8 digits for ``df`` up to 1e4, fewer beyond, where it vanishes.
    Source: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2, 28.2.
    """

    ufunc = "special.stdtr"
    flops_per_element = 100

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``t_bar`` by the density, ``df_bar`` by a series, or by that of ``I`` far out."""
        in_df, in_t = _student_slopes(*operands)
        return z_bar * in_df, z_bar * in_t


@register("stdtrit")
class Stdtrit(SpecialBinary):
    """Student's quantile: ``P(T ≤ z) = p`` for ``df`` degrees of freedom.

    Convention: infinite slope at 0 and 1.
    """

    ufunc = "special.stdtrit"
    flops_per_element = 300

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``p_bar`` by the reciprocal density; ``df_bar`` such that ``p`` stays."""
        in_df, in_t = _student_slopes(operands[0], z)
        return -(z_bar * (in_df / in_t)), z_bar / in_t


def _student_slopes(df: Var, t: Var) -> tuple[Var, Var]:
    """Derivatives of ``P(T ≤ t)`` in ``df`` and ``t``.

    That in ``df`` for small ``t`` of ``P = 1/2 + t p(0) ₂F₁((df + 1) / 2, 1/2; 3/2; -t² / df)``,
    which is smooth at 0.
    """
    half, three_halves = (df.builder.scalar(value, df.dtype) for value in (0.5, 1.5))
    square, a = t * t, df * 0.5
    ratio = square / df
    centre = Exp()(Log()(df) * -0.5 - BetaLn()(a, half))
    density = centre * Exp()(Log1p()(ratio) * ((df + 1) * -0.5))
    series = a + 0.5, half, three_halves, -ratio
    in_centre = (DigammaRise()(a, half) - 1 / df) * SeriesInParameters((0, 0, 0))(*series)
    in_first, in_ratio = SeriesInParameters((1, 0, 0)), SeriesInParameters((0, 0, 0), 1)
    inner = (in_centre + in_first(*series)) * 0.5 + in_ratio(*series) * (ratio / df)
    outer = BetaIncInAB(1, 0)(a, half, df / (df + square)) * Sign()(t) * -0.25
    far = outer - density * t / (df * 2)
    near = LogicalAnd()(df.exceeds(square), Less()(square, df.builder.scalar(1, df.dtype)))
    return Where()(near, t * centre * inner, far), density


@macro("chdtr")
def chdtr(b: Builder, v: Any, x: Any) -> Any:
    """Distribution function of χ² with ``v`` degrees of freedom: ``z = P(v / 2, x / 2)``.

    Derivatives in both operands.  Source: DLMF 8.23.
    """
    v, x = b.promote(v, x, rule=special_promoted)
    return GammaInc()(v * 0.5, x * 0.5)


@macro("chdtrc")
def chdtrc(b: Builder, v: Any, x: Any) -> Any:
    """Probability that χ² of ``v`` degrees of freedom exceeds ``x``: ``z = Q(v / 2, x / 2)``."""
    v, x = b.promote(v, x, rule=special_promoted)
    return GammaIncC()(v * 0.5, x * 0.5)


@macro("chdtri")
def chdtri(b: Builder, v: Any, p: Any) -> Any:
    """What χ² of ``v`` degrees of freedom exceeds with probability ``p``."""
    v, p = b.promote(v, p, rule=special_promoted)
    return GammaIncCInv()(v * 0.5, p) * 2


@macro("gdtr")
def gdtr(builder: Builder, a: Any, b: Any, x: Any) -> Any:
    """Distribution function of the gamma distribution of rate ``a`` and shape ``b``: ``P(b, ax)``.

    Derivatives in all three operands.
    """
    a, b, x = builder.promote(a, b, x, rule=special_promoted)
    return GammaInc()(b, a * x)


@macro("gdtrc")
def gdtrc(builder: Builder, a: Any, b: Any, x: Any) -> Any:
    """Probability beyond ``x`` of the gamma distribution: ``z = Q(b, a x)``."""
    a, b, x = builder.promote(a, b, x, rule=special_promoted)
    return GammaIncC()(b, a * x)


@macro("fdtr")
def fdtr(b: Builder, dfn: Any, dfd: Any, x: Any) -> Any:
    """Distribution function of F: ``z = I_y(dfn / 2, dfd / 2)``, ``y = dfn x / (dfd + dfn x)``.

    Derivatives in all three operands.  Source: DLMF 8.23.
    """
    return _ratio(BetaInc(), BetaIncC(), *b.promote(dfn, dfd, x, rule=special_promoted))


@macro("fdtrc")
def fdtrc(b: Builder, dfn: Any, dfd: Any, x: Any) -> Any:
    """Probability that F exceeds ``x``: ``I_y(dfd / 2, dfn / 2)``, ``y = dfd / (dfd + dfn x)``."""
    return _ratio(BetaIncC(), BetaInc(), *b.promote(dfn, dfd, x, rule=special_promoted))


def _ratio(near: Special, far: Special, n: Var, d: Var, x: Var) -> Var:
    """``near`` of ``y`` where that is small, ``far`` of ``1 - y`` elsewhere."""
    total = d + n * x
    below, above = near(n * 0.5, d * 0.5, n * x / total), far(d * 0.5, n * 0.5, d / total)
    return Where()(d.exceeds(n * x), below, above)


@macro("fdtri")
def fdtri(b: Builder, dfn: Any, dfd: Any, p: Any) -> Any:
    """Quantile of F: ``fdtr(dfn, dfd, z) = p``."""
    n, d, p = b.promote(dfn, dfd, p, rule=special_promoted)
    below, above = BetaIncInv()(n * 0.5, d * 0.5, p), BetaIncCInv()(d * 0.5, n * 0.5, p)
    return below * d / (above * n)


@macro("pdtr")
def pdtr(b: Builder, k: Any, m: Any) -> Any:
    """Poisson's distribution function: ``z = P(N ≤ k) = Q(k + 1, m)`` for mean ``m``.

    ``k`` is rounded down, so no gradient in it.  Source: DLMF 8.4.10.
    """
    k, m = b.promote(k, m, rule=special_promoted)
    return GammaIncC()(Floor()(k) + 1, m)


@macro("pdtrc")
def pdtrc(b: Builder, k: Any, m: Any) -> Any:
    """Probability that Poisson's count of mean ``m`` exceeds ``k``: ``z = P(k + 1, m)``."""
    k, m = b.promote(k, m, rule=special_promoted)
    return GammaInc()(Floor()(k) + 1, m)


@macro("bdtr")
def bdtr(b: Builder, k: Any, n: Any, p: Any) -> Any:
    """Binomial distribution function: at most ``k`` of ``n`` trials of probability ``p`` succeed.

    ``z = 1 - I_p(k + 1, n - k)``, 1 for ``k = n``; ``k`` is rounded down, so no gradient in it.
    Source: DLMF 8.17.5.
    """
    return _binomial(b, BetaIncC(), 1.0, k, n, p)


@macro("bdtrc")
def bdtrc(b: Builder, k: Any, n: Any, p: Any) -> Any:
    """Probability of more than ``k`` successes in ``n`` trials: ``z = I_p(k + 1, n - k)``."""
    return _binomial(b, BetaInc(), 0.0, k, n, p)


def _binomial(b: Builder, op: Special, at_most: float, k: Any, n: Any, p: Any) -> Var:
    """``op`` of the counts, and ``at_most`` where ``k`` reaches ``n``."""
    k, n, p = b.promote(k, n, p, rule=special_promoted)
    successes = Floor()(k)
    reached = successes.equals(n)
    failures = Where()(reached, b.scalar(1, n.dtype), n - successes)
    return Where()(reached, b.scalar(at_most, n.dtype), op(successes + 1, failures, p))


@macro("nbdtr")
def nbdtr(b: Builder, k: Any, n: Any, p: Any) -> Any:
    """At most ``k`` failures before ``n`` successes of probability ``p``: ``z = I_p(n, k + 1)``.

    ``k`` is rounded down, so no gradient in it.  Source: DLMF 8.17.24.
    """
    k, n, p = b.promote(k, n, p, rule=special_promoted)
    return BetaInc()(n, Floor()(k) + 1, p)


@macro("nbdtrc")
def nbdtrc(b: Builder, k: Any, n: Any, p: Any) -> Any:
    """More than ``k`` failures before ``n`` successes: ``z = 1 - I_p(n, k + 1)``."""
    k, n, p = b.promote(k, n, p, rule=special_promoted)
    return BetaIncC()(n, Floor()(k) + 1, p)
