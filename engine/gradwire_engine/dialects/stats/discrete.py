"""Laws of counts: Johnson, Kemp and Kotz, Univariate Discrete Distributions (2005)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.stats.laws import Rule, discrete
from gradwire_engine.ops.pointwise.comparison import Less, LogicalAnd
from gradwire_engine.ops.pointwise.exponential import Log
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.error_functions import Logit
from gradwire_engine.ops.special.gamma import GammaLn
from gradwire_engine.ops.special.log_tails import (
    log_gammainc,
    log_gammaincc,
    logarithm,
    tail_of_betainc,
)

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


#: Valid numbers of trials, and probabilities.
_NUMBER, _SHARE = {"n": [0.0, math.inf]}, {"p": [0.0, 1.0]}

#: Below, one term more of ``ψ`` than its pole has all digits of its sum.
_SMALL = 1e-3


def _log_choices(n: Var, k: Var) -> Var:
    """Logarithm of the binomial coefficient ``n`` over ``k``."""
    return -BetaLn()(n - k + 1, k + 1) - Log()(n + 1)


def _log_rising(a: Var, k: Var) -> Var:
    """``ln((a)ₖ / k!)``; of ``k = 0`` and small ``a`` by two terms in ``k``, as nothing cancels."""
    tiny = LogicalAnd()(k.equals(0), Less()(a, _number(_SMALL, a)))
    series = k * (a * (math.pi**2 / 6) - 1 / a) + k * k / (a * a) * 0.5
    return Where()(tiny, series, -BetaLn()(a, k + 1) - Log()(a + k))


def _number(value: float, k: Var) -> Var:
    return k.builder.scalar(value, k.dtype)


def _counted(name: str) -> Any:
    """A distribution function of counts, which takes the count first."""
    return lambda k, *shape: recorded(name)(k.builder, k, *shape)


def _with_tails(below: Rule, above: Rule, log_below: Rule, log_above: Rule) -> dict[str, Any]:
    """Distribution functions and their logarithms, from those far below 0."""
    return {
        "cdf": below,
        "sf": above,
        "logcdf": lambda *x: logarithm(below(*x), above(*x), log_below(*x)),
        "logsf": lambda *x: logarithm(above(*x), below(*x), log_above(*x)),
    }


discrete(
    "bernoulli",
    "one trial of probability p",
    lambda k, p: (_number(0, k), p, k, -p, 1 - k),
    "p",
    (0.0, 1.0),
    domain=_SHARE,
    cdf=lambda k, p: recorded("bdtr")(k.builder, k, 1.0, p),
    sf=lambda k, p: recorded("bdtrc")(k.builder, k, 1.0, p),
)
discrete(
    "binom",
    "successes in n trials of probability p",
    lambda k, n, p: (_log_choices(n, k), p, k, -p, n - k),
    "n p",
    (0.0, lambda n, p: n),
    domain=_NUMBER | _SHARE,
    **_with_tails(
        _counted("bdtr"),
        _counted("bdtrc"),
        lambda k, n, p: tail_of_betainc(n - k, k + 1, -Logit()(p)),
        lambda k, n, p: tail_of_betainc(k + 1, n - k, Logit()(p)),
    ),
)
discrete(
    "nbinom",
    "failures before n successes of probability p",
    lambda k, n, p: (_log_rising(n, k), p, n, -p, k),
    "n p",
    domain=_SHARE,
    **_with_tails(
        _counted("nbdtr"),
        _counted("nbdtrc"),
        lambda k, n, p: tail_of_betainc(n, k + 1, Logit()(p)),
        lambda k, n, p: tail_of_betainc(k + 1, n, -Logit()(p)),
    ),
)
discrete(
    "geom",
    "trials of probability p to the first success",
    lambda k, p: (_number(0, k), p, _number(1, k), -p, k - 1),
    "p",
    (1.0, math.inf),
    domain=_SHARE,
)
discrete(
    "poisson",
    "Poisson's law of mean mu, mu^k exp(-mu) / k!",
    lambda k, mu: (-GammaLn()(k + 1) - mu, mu, k),
    "mu",
    domain={"mu": [0.0, math.inf]},
    cdf=_counted("pdtr"),
    sf=_counted("pdtrc"),
    logcdf=lambda k, mu: log_gammaincc(k + 1, mu),
    logsf=lambda k, mu: log_gammainc(k + 1, mu),
)
discrete(
    "betabinom",
    "successes in n trials whose probability has the beta law of a and b",
    lambda k, n, a, b: _log_rising(a, k) + _log_rising(b, n - k) - _log_rising(a + b, n),
    "n a b",
    (0.0, lambda n, a, b: n),
    domain=_NUMBER,
)
