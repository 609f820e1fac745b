"""Draws from the gamma distribution and those made of it, differentiable in their parameters.

Numbers of small shape parameters are nearly 0 and may underflow, so that everything is made of
their logarithms, by the quantile's implicit derivative.
Source: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients" (2018).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.pointwise.activations import Sigmoid
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.random.draws import drawn
from gradwire_engine.ops.random.keys import shape_for
from gradwire_engine.ops.reductions.normalized import Softmax
from gradwire_engine.ops.special.inverses import GammaIncInv
from gradwire_engine.ops.special.normal import Ndtri

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _log_gamma(u: Var, v: Var, a: Var) -> Var:
    """The logarithm of gamma numbers: of those for ``a + 1``, which never vanish, and a power.

    Source: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), section 6.
    """
    return Log()(GammaIncInv()(a + 1, u)) + Log()(v) / a


@macro("random.loggamma")
def loggamma(b: Builder, key: Any, a: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Logarithms of gamma numbers of shape parameter ``a``, exact where the numbers are nearly 0.

    ``z = ln P⁻¹(a + 1, u) + ln v / a``, differentiable in ``a``.
    """
    return drawn(b, "loggamma", key, shape, dtype, (a,), _log_gamma, count=2)


@macro("random.gamma")
def gamma(b: Builder, key: Any, a: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Gamma distribution of shape parameter ``a`` and scale 1: ``z = P⁻¹(a + 1, u) v ** (1 / a)``.

    Differentiable in ``a``: the quantile ``q`` has ``∂q/∂a = -(∂P/∂a) / p`` with the density ``p``.
    """

    def formula(u: Var, v: Var, shape_parameter: Var) -> Var:
        return Exp()(_log_gamma(u, v, shape_parameter))

    return drawn(b, "gamma", key, shape, dtype, (a,), formula, count=2)


@macro("random.chisquare")
def chisquare(b: Builder, key: Any, df: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Chi-squared distribution of ``df`` degrees of freedom: twice gamma numbers of ``df / 2``."""

    def formula(u: Var, v: Var, n: Var) -> Var:
        return Exp()(_log_gamma(u, v, n / 2)) * 2

    return drawn(b, "chisquare", key, shape, dtype, (df,), formula, count=2)


@macro("random.maxwell")
def maxwell(b: Builder, key: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Maxwell's distribution, the length of three normal numbers: ``z = sqrt(2 g)``."""

    def formula(u: Var, v: Var, a: Var) -> Var:
        return Exp()((_log_gamma(u, v, a) + math.log(2)) / 2)

    return drawn(b, "maxwell", key, shape, dtype, (1.5,), formula, count=2)


@macro("random.f")
def f(
    b: Builder, key: Any, dfnum: Any, dfden: Any, shape: Static = None, dtype: Static = None
) -> Any:
    """Fisher's distribution: chi-squared numbers over their degrees of freedom, divided."""

    def formula(u: Var, v: Var, w: Var, x: Var, m: Var, n: Var) -> Var:
        ratio = _log_gamma(u, v, m / 2) - _log_gamma(w, x, n / 2)
        return Exp()(ratio) * (n / m)

    return drawn(b, "f", key, shape, dtype, (dfnum, dfden), formula, count=4)


@macro("random.t")
def t(b: Builder, key: Any, df: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Student's distribution of ``df`` degrees: ``z = n sqrt(df / χ²)`` with ``n`` normal."""

    def formula(w: Var, u: Var, v: Var, n: Var) -> Var:
        return Ndtri()(w) * Exp()((Log()(n / 2) - _log_gamma(u, v, n / 2)) / 2)

    return drawn(b, "t", key, shape, dtype, (df,), formula, count=3)


@macro("random.beta")
def beta(
    builder: Builder, key: Any, a: Any, b: Any, shape: Static = None, dtype: Static = None
) -> Any:
    """Beta distribution: ``z = g / (g + h)`` of gamma numbers of ``a`` and ``b``, by logarithms."""

    def formula(u: Var, v: Var, w: Var, x: Var, first: Var, second: Var) -> Var:
        return Sigmoid()(_log_gamma(u, v, first) - _log_gamma(w, x, second))

    return drawn(builder, "beta", key, shape, dtype, (a, b), formula, count=4)


@macro("random.dirichlet")
def dirichlet(b: Builder, key: Any, alpha: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Shares that sum to 1 along the last axis: gamma numbers of ``alpha`` over their sum.

    Shapes: ``(*shape, n)`` for ``alpha`` of ``(..., n)``, whose axes but the last are the default
    for ``shape``.
    """
    x = b.array(alpha)
    if not x.ndim:
        raise ShapeMismatch("dirichlet needs concentrations along a last axis, got one number")
    full = (*shape_for(shape, [x.type.shape[:-1]], "dirichlet"), x.type.shape[-1])

    def formula(u: Var, v: Var, concentrations: Var) -> Var:
        return Softmax((u.ndim - 1,))(_log_gamma(u, v, concentrations))

    return drawn(b, "dirichlet", key, full, dtype, (x,), formula, count=2)
