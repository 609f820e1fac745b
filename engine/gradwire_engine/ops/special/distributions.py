"""Student's distribution function and its quantile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import SpecialBinary
from gradwire_engine.ops.pointwise.comparison import Less, LogicalAnd
from gradwire_engine.ops.pointwise.exponential import Exp, Log, Log1p
from gradwire_engine.ops.pointwise.selection import Sign, Where
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.gamma import DigammaRise
from gradwire_engine.ops.special.hypergeometric import SeriesInParameters
from gradwire_engine.ops.special.incomplete import (
    BetaIncInAB,
)

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


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
