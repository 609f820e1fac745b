"""Continuous laws: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (1994)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradwire_engine.dialects.stats.laws import POSITIVE, Rule, continuous
from gradwire_engine.ops.formulas import gennorm_below, log_gennorm
from gradwire_engine.ops.pointwise.activations import Sigmoid, Softplus
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, Square
from gradwire_engine.ops.pointwise.comparison import Less, LogicalAnd, LogicalOr
from gradwire_engine.ops.pointwise.exponential import Exp, Expm1, Log, Log1p
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.pointwise.trigonometric import Arctan2, Hypot, Sin, Tan, Tanh
from gradwire_engine.ops.rules import RULES, by_formula
from gradwire_engine.ops.special.bessel import I0e
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.distributions import Stdtr, Stdtrit, log1p_square, log_student
from gradwire_engine.ops.special.error_functions import Logit
from gradwire_engine.ops.special.gamma import GammaLn
from gradwire_engine.ops.special.incomplete import (
    BetaInc,
    BetaIncC,
    GammaInc,
    GammaIncC,
    where_defined,
)
from gradwire_engine.ops.special.inverses import BetaIncCInv, BetaIncInv, GammaIncCInv, GammaIncInv
from gradwire_engine.ops.special.log_tails import (
    log_betainc,
    log_betaincc,
    log_gammainc,
    log_gammaincc,
    logarithm,
    tail_of_betainc,
    tail_of_gammaincc,
    underflows,
)
from gradwire_engine.ops.special.normal import LogNdtr, Ndtr, Ndtri
from gradwire_engine.ops.special.tails import settled

if TYPE_CHECKING:
    from gradwire_engine.ops.base import Cotangents
    from gradwire_engine.ops.builder import Var

_LOG_2 = math.log(2)
_LOG_ROOT_2_PI = math.log(2 * math.pi) / 2
#: So few terms of Student's tail have all digits, by the logarithm of their size.
_FAR = -8.0


def _log1mexp(x: Var) -> Var:
    """``ln(1 - exp(x))`` for ``x < 0``."""
    return Where()(x.exceeds(-_LOG_2), Log()(-Expm1()(x)), Log1p()(-Exp()(x)))


def _log_sigmoid(x: Var) -> Var:
    return -Softplus()(-x)


def _log_logistic(y: Var) -> Var:
    return _log_sigmoid(y) + _log_sigmoid(-y)


def _of_log_logistic(z_bar: Var, z: Var, y: Var) -> Cotangents:
    """The difference of the logistic function of ``-y`` and ``y``."""
    return (-(z_bar * Tanh()(y * 0.5)),)


RULES["log_logistic"] = _of_log_logistic


def _power(y: Var, c: Var) -> Var:
    """``y ** c``, NaN where ``c`` is, also of 1."""
    return Power()(y, c) * where_defined(c)


def _steep(x: Var) -> Var:
    """``exp(x)``, but ``exp(100)`` beyond, of which the exponential vanishes with all slopes."""
    return Exp()(Where()(x.exceeds(100), x.builder.scalar(100, x.dtype), x))


def _log_steep_rest(x: Var) -> Var:
    """``ln(1 - exp(-exp(x)))``, by two terms where ``exp(x)`` is small."""
    power = _steep(x)
    small = Less()(x, x.builder.scalar(-20, x.dtype))
    return Where()(small, x - power * 0.5, _log1mexp(-power))


continuous(
    "norm",
    "the normal law, exp(-y² / 2) / sqrt(2π)",
    lambda y: y * y * -0.5 - _LOG_ROOT_2_PI,
    cdf=Ndtr(),
    sf=lambda y: Ndtr()(-y),
    logcdf=LogNdtr(),
    logsf=lambda y: LogNdtr()(-y),
    ppf=Ndtri(),
    isf=lambda q: -Ndtri()(q),
)
continuous(
    "expon",
    "the exponential law, exp(-y)",
    lambda y: -y,
    support=POSITIVE,
    cdf=lambda y: -Expm1()(-y),
    sf=lambda y: Exp()(-y),
    logcdf=lambda y: _log1mexp(-y),
    logsf=lambda y: -y,
    ppf=lambda q: -Log1p()(-q),
    isf=lambda q: -Log()(q),
)
continuous(
    "gamma",
    "the gamma law, y^(a-1) exp(-y) / Γ(a)",
    lambda y, a: (-y - GammaLn()(a), y, a - 1),
    "a",
    POSITIVE,
    cdf=lambda y, a: GammaInc()(a, y),
    sf=lambda y, a: GammaIncC()(a, y),
    logcdf=lambda y, a: log_gammainc(a, y),
    logsf=lambda y, a: log_gammaincc(a, y),
    ppf=lambda q, a: GammaIncInv()(a, q),
    isf=lambda q, a: GammaIncCInv()(a, q),
)
continuous(
    "chi2",
    "the χ² law of df degrees of freedom, y^(df/2-1) exp(-y/2) / (2^(df/2) Γ(df/2))",
    lambda y, df: (y * -0.5 - GammaLn()(df * 0.5) - df * (_LOG_2 / 2), y, df * 0.5 - 1),
    "df",
    POSITIVE,
    cdf=lambda y, df: GammaInc()(df * 0.5, y * 0.5),
    sf=lambda y, df: GammaIncC()(df * 0.5, y * 0.5),
    logcdf=lambda y, df: log_gammainc(df * 0.5, y * 0.5),
    logsf=lambda y, df: log_gammaincc(df * 0.5, y * 0.5),
    ppf=lambda q, df: GammaIncInv()(df * 0.5, q) * 2,
    isf=lambda q, df: GammaIncCInv()(df * 0.5, q) * 2,
)
continuous(
    "beta",
    "the beta law, y^(a-1) (1-y)^(b-1) / B(a, b)",
    lambda y, a, b: (-BetaLn()(a, b), y, a - 1, -y, b - 1),
    "a b",
    (0.0, 1.0),
    cdf=lambda y, a, b: BetaInc()(a, b, y),
    sf=lambda y, a, b: BetaIncC()(a, b, y),
    logcdf=lambda y, a, b: log_betainc(a, b, y),
    logsf=lambda y, a, b: log_betaincc(a, b, y),
    ppf=lambda q, a, b: BetaIncInv()(a, b, q),
    isf=lambda q, a, b: BetaIncCInv()(a, b, q),
)


def _log_student_below(y: Var, df: Var) -> Var:
    """In the tail by the log-odds of ``df / (df + y²)``, which have no squares."""
    half, below = y.builder.scalar(0.5, y.dtype), Stdtr()(df, y)
    odds = Log()(df) - Log()(Absolute()(y)) * 2
    tail = tail_of_betainc(df * 0.5, half, odds) - _LOG_2
    far = Less()(odds + Log1p()(df), y.builder.scalar(_FAR, y.dtype))
    low = LogicalOr()(underflows(below), LogicalAnd()(far, Less()(below, half)))
    return logarithm(below, Stdtr()(df, -y), tail, low)


continuous(
    "t",
    "Student's law of df degrees of freedom, (1 + y²/df)^(-(df+1)/2) / (sqrt(df) B(df/2, 1/2))",
    log_student,
    "df",
    cdf=lambda y, df: Stdtr()(df, y),
    sf=lambda y, df: Stdtr()(df, -y),
    logcdf=_log_student_below,
    logsf=lambda y, df: _log_student_below(-y, df),
    ppf=lambda q, df: Stdtrit()(df, q),
    isf=lambda q, df: -Stdtrit()(df, q),
)


def _cauchy_below(y: Var) -> Var:
    return Arctan2()(y.builder.scalar(1, y.dtype), -y) / math.pi


def _log_cauchy_below(y: Var) -> Var:
    return by_formula(
        "log_cauchy_below", lambda y: logarithm(_cauchy_below(y), _cauchy_below(-y)), y
    )


def _of_log_cauchy_below(z_bar: Var, z: Var, y: Var) -> Cotangents:
    """``1 / ((1 + y²) arctan2(1, -y))``, where the square may overflow."""
    one = y.builder.scalar(1, y.dtype)
    share = 1 / Hypot()(y, one)
    return (z_bar * settled(y, share * (share / Arctan2()(one, -y))),)


RULES["log_cauchy_below"] = _of_log_cauchy_below


def _cauchy_quantile(q: Var) -> Var:
    """``tan(π (q - 1/2))``, from 0 or 1 where that is nearer."""
    upper = q.exceeds(0.5)
    tail = 1 / Tan()(Where()(upper, 1 - q, q) * math.pi)
    central = Less()(Absolute()(q - 0.5), q.builder.scalar(0.25, q.dtype))
    return Where()(central, Tan()((q - 0.5) * math.pi), Where()(upper, tail, -tail))


continuous(
    "cauchy",
    "Cauchy's law, 1 / (π (1 + y²))",
    lambda y: -log1p_square(y) - math.log(math.pi),
    cdf=_cauchy_below,
    sf=lambda y: _cauchy_below(-y),
    logcdf=_log_cauchy_below,
    logsf=lambda y: _log_cauchy_below(-y),
    ppf=_cauchy_quantile,
    isf=lambda q: -_cauchy_quantile(q),
)


def _laplace_below(y: Var) -> Var:
    tail = Exp()(-Absolute()(y)) * 0.5
    return Where()(y.exceeds(0), 1 - tail, tail)


def _log_laplace_below(y: Var) -> Var:
    return Where()(y.exceeds(0), Log1p()(Exp()(-Absolute()(y)) * -0.5), y - _LOG_2)


def _laplace_quantile(q: Var) -> Var:
    return Where()(q.exceeds(0.5), -Log()((1 - q) * 2), Log()(q * 2))


continuous(
    "laplace",
    "Laplace's law, exp(-|y|) / 2",
    lambda y: -Absolute()(y) - _LOG_2,
    cdf=_laplace_below,
    sf=lambda y: _laplace_below(-y),
    logcdf=_log_laplace_below,
    logsf=lambda y: _log_laplace_below(-y),
    ppf=_laplace_quantile,
    isf=lambda q: -_laplace_quantile(q),
)
continuous(
    "logistic",
    "the logistic law, exp(-y) / (1 + exp(-y))²",
    lambda y: by_formula("log_logistic", _log_logistic, y),
    cdf=Sigmoid(),
    sf=lambda y: Sigmoid()(-y),
    logcdf=_log_sigmoid,
    logsf=lambda y: _log_sigmoid(-y),
    ppf=Logit(),
    isf=lambda q: -Logit()(q),
)


def _uniform_below(y: Var) -> Var:
    """``y``, whose slope is NaN at NaN, as the density."""
    return Where()(y.equals(y), y, y * y)


continuous(
    "uniform",
    "the uniform law between 0 and 1",
    lambda y: y * 0,
    support=(0.0, 1.0),
    cdf=_uniform_below,
    sf=lambda y: 1 - _uniform_below(y),
    ppf=lambda q: q,
    isf=lambda q: 1 - q,
)
continuous(
    "pareto",
    "Pareto's law, b / y^(b+1) for y ≥ 1",
    lambda y, b: Log()(b) - Log()(y) * (b + 1),
    "b",
    (1.0, math.inf),
    cdf=lambda y, b: -Expm1()(-(b * Log()(y))),
    sf=lambda y, b: Exp()(-(b * Log()(y))),
    logcdf=lambda y, b: _log_steep_rest(Log()(b) + Log()(Log()(y))),
    logsf=lambda y, b: -(b * Log()(y)),
    ppf=lambda q, b: Exp()(-(Log1p()(-q) / b)),
    isf=lambda q, b: Exp()(-(Log()(q) / b)),
)
continuous(
    "gumbel_r",
    "Gumbel's law of largest values, exp(-y - exp(-y))",
    lambda y: -y - Exp()(-y),
    cdf=lambda y: Exp()(-_steep(-y)),
    sf=lambda y: -Expm1()(-_steep(-y)),
    logcdf=lambda y: -Exp()(-y),
    logsf=lambda y: _log_steep_rest(-y),
    ppf=lambda q: -Log()(-Log()(q)),
    isf=lambda q: -Log()(-Log1p()(-q)),
)
continuous(
    "gumbel_l",
    "Gumbel's law of smallest values, exp(y - exp(y))",
    lambda y: y - Exp()(y),
    cdf=lambda y: -Expm1()(-_steep(y)),
    sf=lambda y: Exp()(-_steep(y)),
    logcdf=_log_steep_rest,
    logsf=lambda y: -Exp()(y),
    ppf=lambda q: Log()(-Log1p()(-q)),
    isf=lambda q: Log()(-Log()(q)),
)


def _log_between(a: Var, b: Var) -> Var:
    """``ln(Φ(b) - Φ(a))`` for ``a < b``, from the tail that both are in."""
    low, high = _tails(a, b)
    return high + _log1mexp(-(high - low))


def _between(a: Var, b: Var, total: Var) -> Var:
    """``(Φ(b) - Φ(a)) / exp(total)``, also with slopes where ``a`` is ``b``."""
    low, high = _tails(a, b)
    return -(Exp()(high - total) * Expm1()(low - high))


def _tails(a: Var, b: Var) -> tuple[Var, Var]:
    """``ln Φ`` of ``a`` and ``b``, or of ``-b`` and ``-a`` if both are positive."""
    right = a.exceeds(0)
    return LogNdtr()(Where()(right, -b, a)), LogNdtr()(Where()(right, -a, b))


def _truncated_below(y: Var, a: Var, b: Var) -> Var:
    return _between(a, y, _log_between(a, b))


def _truncated_above(y: Var, a: Var, b: Var) -> Var:
    return _between(y, b, _log_between(a, b))


def _log_truncated(rule: Rule, rest: Rule, ends: tuple[Var, Var], y: Var, a: Var, b: Var) -> Var:
    p = rule(y, a, b)
    low = Less()(p, p.builder.scalar(0.5, p.dtype))
    return logarithm(p, rest(y, a, b), _log_between(*ends) - _log_between(a, b), low)


continuous(
    "truncnorm",
    "the normal law between a and b",
    lambda y, a, b: y * y * -0.5 - _LOG_ROOT_2_PI - _log_between(a, b),
    "a b",
    (lambda a, b: a, lambda a, b: b),
    domain={"a": lambda a, b, *_: (-math.inf, b), "b": None},
    cdf=_truncated_below,
    sf=_truncated_above,
    logcdf=lambda y, a, b: _log_truncated(_truncated_below, _truncated_above, (a, y), y, a, b),
    logsf=lambda y, a, b: _log_truncated(_truncated_above, _truncated_below, (y, b), y, a, b),
)


def _log_gennorm_below(y: Var, beta: Var) -> Var:
    tail = tail_of_gammaincc(1 / beta, _power(Absolute()(y), beta)) - _LOG_2
    return logarithm(gennorm_below(y, beta), gennorm_below(-y, beta), tail)


continuous(
    "gennorm",
    "the generalised normal law, β exp(-|y|^β) / (2 Γ(1/β))",
    log_gennorm,
    "beta",
    cdf=gennorm_below,
    sf=lambda y, beta: gennorm_below(-y, beta),
    logcdf=_log_gennorm_below,
    logsf=lambda y, beta: _log_gennorm_below(-y, beta),
)
continuous(
    "vonmises",
    "von Mises' law of angles, exp(κ cos y) / (2π I₀(κ))",
    lambda y, kappa: kappa * Square()(Sin()(y * 0.5)) * -2 - Log()(I0e()(kappa) * (2 * math.pi)),
    "kappa",
    domain={"kappa": [0.0, math.inf]},
)


def _log_wrapped(y: Var, c: Var) -> Var:
    """With ``(1 - c)² + 4c sin²(y/2)``, in which nothing cancels."""
    rest = 1 - c
    distance = Square()(rest) + Square()(Sin()(y * 0.5)) * c * 4
    return Log()(rest * (c + 1) / (distance * (2 * math.pi)))


continuous(
    "wrapcauchy",
    "Cauchy's law wrapped around a circle, (1 - c²) / (2π (1 + c² - 2c cos y)), 0 ≤ y ≤ 2π",
    _log_wrapped,
    "c",
    (0.0, 2 * math.pi),
    domain={"c": (0.0, 1.0)},
)


def _log_lognormal(y: Var, s: Var) -> Var:
    """Written such that no infinities cancel at 0."""
    log = Log()(y)
    return -(log * (log / (s * s * 2) + 1)) - Log()(s) - _LOG_ROOT_2_PI


continuous(
    "lognorm",
    "the law whose logarithm is normal of scale s",
    _log_lognormal,
    "s",
    POSITIVE,
    flat=True,
    cdf=lambda y, s: Ndtr()(Log()(y) / s),
    sf=lambda y, s: Ndtr()(-(Log()(y) / s)),
    logcdf=lambda y, s: LogNdtr()(Log()(y) / s),
    logsf=lambda y, s: LogNdtr()(-(Log()(y) / s)),
    ppf=lambda q, s: Exp()(Ndtri()(q) * s),
    isf=lambda q, s: Exp()(-(Ndtri()(q) * s)),
)


continuous(
    "weibull_min",
    "Weibull's law, c y^(c-1) exp(-y^c)",
    lambda y, c: (Log()(c) - _power(y, c), y, c - 1),
    "c",
    POSITIVE,
    cdf=lambda y, c: -Expm1()(-_power(y, c)),
    sf=lambda y, c: Exp()(-_power(y, c)),
    logcdf=lambda y, c: _log_steep_rest(c * Log()(y)),
    logsf=lambda y, c: -_power(y, c),
    ppf=lambda q, c: _power(-Log1p()(-q), 1 / c),
    isf=lambda q, c: _power(-Log()(q), 1 / c),
)
