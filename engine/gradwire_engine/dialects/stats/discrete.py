"""Laws of counts: Johnson, Kemp and Kotz, Univariate Discrete Distributions (2005)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.stats.laws import discrete
from gradwire_engine.ops.pointwise.exponential import Log
from gradwire_engine.ops.special.beta import BetaLn
from gradwire_engine.ops.special.gamma import GammaLn

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


#: Valid numbers of trials, and probabilities.
_NUMBER, _SHARE = {"n": [0.0, math.inf]}, {"p": [0.0, 1.0]}


def _log_choices(n: Var, k: Var) -> Var:
    """Logarithm of the binomial coefficient ``n`` over ``k``."""
    return -BetaLn()(n - k + 1, k + 1) - Log()(n + 1)


def _number(value: float, k: Var) -> Var:
    return k.builder.scalar(value, k.dtype)


def _counted(name: str) -> Any:
    """A distribution function of counts, which takes the count first."""
    return lambda k, *shape: recorded(name)(k.builder, k, *shape)


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
    cdf=_counted("bdtr"),
    sf=_counted("bdtrc"),
)
discrete(
    "nbinom",
    "failures before n successes of probability p",
    lambda k, n, p: (-BetaLn()(k + 1, n) - Log()(n + k), p, n, -p, k),
    "n p",
    domain=_SHARE,
    cdf=_counted("nbdtr"),
    sf=_counted("nbdtrc"),
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
)
discrete(
    "betabinom",
    "successes in n trials whose probability has the beta law of a and b",
    lambda k, n, a, b: _log_choices(n, k) + BetaLn()(k + a, n - k + b) - BetaLn()(a, b),
    "n a b",
    (0.0, lambda n, a, b: n),
    domain=_NUMBER,
)
