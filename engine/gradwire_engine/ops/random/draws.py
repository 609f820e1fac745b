"""Draws from continuous distributions, differentiable in their parameters.

Each is a formula of uniform numbers and parameters, so that its gradient is the derivative at fixed
randomness (the reparametrised one). Formulas are computed in double precision whatever the dtype.
Shapes: ``shape``, to which the parameters broadcast, by default the shape common to these.
Source: Devroye, Non-Uniform Random Variate Generation (1986), II.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.elementwise import SpecialUnary
from gradwire_engine.ops.linalg.cholesky import Cholesky
from gradwire_engine.ops.linalg.products import squeezed, times
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.comparison import Greater, Less
from gradwire_engine.ops.pointwise.exponential import Exp, Log, Log1p, LogAddExp
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, Where
from gradwire_engine.ops.pointwise.trigonometric import Tan
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.random.keys import drawn_dtype, real_parameters, shape_for, uniforms
from gradwire_engine.ops.special.normal import LogNdtr, Ndtri, NormalHazard

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

DOUBLE = DTYPES["float64"]


def drawn(
    b: Builder,
    op: str,
    key: Any,
    shape: Any,
    dtype: Any,
    parameters: tuple[Any, ...],
    formula: Callable[..., Var],
    *,
    count: int = 1,
) -> Var:
    """``formula`` of ``count`` uniform numbers for each element, and of the parameters."""
    operands = real_parameters(b, op, *parameters)
    full = shape_for(shape, [x.type.shape for x in operands], op)
    u = uniforms(b, key, (count, *full), DOUBLE)
    parts = [picked(u, 0, i) for i in range(count)]
    z = formula(*parts, *[b.cast(x, DOUBLE) for x in operands])
    return b.cast(z, drawn_dtype(dtype, operands[0].dtype))


def location_scale(name: str) -> Callable[[Callable[[Var], Var]], Callable[..., Any]]:
    """Make a quantile a distribution that a location and a scale move and stretch."""

    def complete(quantile: Callable[[Var], Var]) -> Callable[..., Any]:
        def record(
            b: Builder,
            key: Any,
            shape: Static = None,
            dtype: Static = None,
            loc: Any = 0.0,
            scale: Any = 1.0,
        ) -> Any:
            moved = (loc, scale)
            return drawn(b, name, key, shape, dtype, moved, lambda u, m, s: m + s * quantile(u))

        record.__doc__ = quantile.__doc__
        return macro(name)(record)

    return complete


@location_scale("random.normal")
def normal(u: Var) -> Var:
    """Normal numbers: ``z = loc + scale Φ⁻¹(u)``."""
    return Ndtri()(u)


@location_scale("random.laplace")
def laplace(u: Var) -> Var:
    """Laplace's distribution, exponential both ways: ``z = loc ± scale ln(2 min(u, 1 - u))``."""
    lower = Less()(u, u.builder.scalar(0.5, u.dtype))
    return Where()(lower, Log()(u * 2), -Log()(2 - u * 2))


@location_scale("random.logistic")
def logistic(u: Var) -> Var:
    """Logistic distribution: ``z = loc + scale ln(u / (1 - u))``."""
    return Log()(u) - Log1p()(-u)


@location_scale("random.gumbel")
def gumbel(u: Var) -> Var:
    """Gumbel's distribution, of largest values: ``z = loc - scale ln(-ln u)``."""
    return gumbels(u)


def gumbels(u: Var) -> Var:
    """Gumbel's standard distribution: ``-ln(-ln u)``."""
    return -Log()(-Log()(u))


@location_scale("random.cauchy")
def cauchy(u: Var) -> Var:
    """Cauchy's distribution: ``z = loc + scale tan(π (u - 1/2))``."""
    return Tan()((u - 0.5) * math.pi)


def _exponential(u: Var) -> Var:
    return -Log1p()(-u)


@macro("random.exponential")
def exponential(
    b: Builder, key: Any, shape: Static = None, dtype: Static = None, scale: Any = 1.0
) -> Any:
    """Exponential distribution of mean ``scale``: ``z = -scale ln(1 - u)``."""

    def formula(u: Var, s: Var) -> Var:
        return s * _exponential(u)

    return drawn(b, "exponential", key, shape, dtype, (scale,), formula)


@macro("random.rayleigh")
def rayleigh(
    b: Builder, key: Any, scale: Any = 1.0, shape: Static = None, dtype: Static = None
) -> Any:
    """Rayleigh's distribution, the length of normal pairs: ``z = scale sqrt(-2 ln(1 - u))``."""

    def formula(u: Var, s: Var) -> Var:
        return s * Sqrt()(_exponential(u) * 2)

    return drawn(b, "rayleigh", key, shape, dtype, (scale,), formula)


@macro("random.weibull_min")
def weibull_min(
    b: Builder, key: Any, scale: Any, concentration: Any, shape: Static = None, dtype: Static = None
) -> Any:
    """Weibull's distribution: ``z = scale (-ln(1 - u)) ** (1 / concentration)``."""

    def formula(u: Var, s: Var, c: Var) -> Var:
        return s * Exp()(Log()(_exponential(u)) / c)

    return drawn(b, "weibull_min", key, shape, dtype, (scale, concentration), formula)


@macro("random.pareto")
def pareto(builder: Builder, key: Any, b: Any, shape: Static = None, dtype: Static = None) -> Any:
    """Pareto's distribution from 1 on: ``z = (1 - u) ** (-1 / b)``."""

    def formula(u: Var, exponent: Var) -> Var:
        return Exp()(_exponential(u) / exponent)

    return drawn(builder, "pareto", key, shape, dtype, (b,), formula)


@macro("random.triangular")
def triangular(
    b: Builder,
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    shape: Static = None,
    dtype: Static = None,
) -> Any:
    """Density rising from ``left`` to ``mode`` and falling to ``right``, by its quantile."""
    return drawn(b, "triangular", key, shape, dtype, (left, mode, right), _triangle)


def _triangle(u: Var, left: Var, mode: Var, right: Var) -> Var:
    width = right - left
    rising = left + Sqrt()(u * width * (mode - left))
    falling = right - Sqrt()((1 - u) * width * (right - mode))
    return Where()(Less()(u * width, mode - left), rising, falling)


@macro("random.lognormal")
def lognormal(
    b: Builder,
    key: Any,
    sigma: Any = 1.0,
    shape: Static = None,
    dtype: Static = None,
    mean: Any = 0.0,
) -> Any:
    """Numbers whose logarithm is normal: ``z = exp(mean + sigma Φ⁻¹(u))``."""

    def formula(u: Var, m: Var, s: Var) -> Var:
        return Exp()(m + s * Ndtri()(u))

    return drawn(b, "lognormal", key, shape, dtype, (mean, sigma), formula)


@register("ndtri_exp")
class NdtriExp(SpecialUnary):
    """Normal quantile of a logarithm: ``ln Φ(z) = x``, exact where ``Φ(z)`` would be 0."""

    ufunc = "special.ndtri_exp"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar Φ(z) / φ(z)``."""
        return (z_bar / NormalHazard()(z),)


@macro("random.truncated_normal")
def truncated_normal(
    b: Builder, key: Any, lower: Any, upper: Any, shape: Static = None, dtype: Static = None
) -> Any:
    """Standard normal numbers between ``lower`` and ``upper``, differentiable in both.

    ``Φ(z) = (1 - u) Φ(lower) + u Φ(upper)``, by logarithms and on the side of smaller numbers, so
    that bounds far out are as good as others.
    """
    return drawn(b, "truncated_normal", key, shape, dtype, (lower, upper), _between)


def _between(u: Var, low: Var, high: Var) -> Var:
    turned = Greater()(low + high, u.builder.scalar(0, u.dtype))
    first, last = Where()(turned, -high, low), Where()(turned, -low, high)
    share = Where()(turned, 1 - u, u)
    x = LogAddExp()(Log1p()(-share) + LogNdtr()(first), Log()(share) + LogNdtr()(last))
    z = NdtriExp()(x)
    return Minimum()(Maximum()(Where()(turned, -z, z), low), high)


@macro("random.multivariate_normal")
def multivariate_normal(
    b: Builder, key: Any, mean: Any, cov: Any, shape: Static = None, dtype: Static = None
) -> Any:
    """Normal vectors: ``z = mean + L n`` with ``cov = L L^T`` and ``n`` standard normal.

    Shapes: ``(*shape, n)``; axes of ``mean`` before its last, and of ``cov`` before its last two,
    broadcast to ``shape``, and are its default.  NaN where ``cov`` is not positive definite.
    """
    m, c = real_parameters(b, "multivariate_normal", mean, cov)
    if not m.ndim or c.ndim < 2 or c.type.shape[-2:] != m.type.shape[-1:] * 2:
        raise ShapeMismatch(
            f"multivariate_normal needs vectors and matrices, got {m.type} and {c.type}"
        )
    batches = [m.type.shape[:-1], c.type.shape[:-2]]
    full = shape_for(shape, batches, "multivariate_normal")
    n = Ndtri()(uniforms(b, key, (*full, m.type.shape[-1]), DOUBLE))
    moved = squeezed(times(Cholesky()(b.cast(c, DOUBLE)), unsqueeze(n, (n.ndim,))), -1)
    return b.cast(b.cast(m, DOUBLE) + moved, drawn_dtype(dtype, m.dtype))
