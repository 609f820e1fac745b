"""Distributions as in ``scipy.stats``, and Python's ``math``."""

import math
from math import exp
from typing import Any

import numpy as np
import scipy.stats
from scipy.stats import beta, gamma, multivariate_normal, norm

RNG = np.random.default_rng(8)
X = RNG.uniform(0.2, 0.8, (2, 3))
V = RNG.uniform(0.5, 1.5, 3)
N = np.array([0.0, 1.0, 2.0])
T = 0.7

CASES: list[Any] = [
    (
        "norm",
        lambda x, t: (norm.logpdf(x), norm.logpdf(x, t, 2.0), norm.cdf(x, loc=t, scale=t)),
        X,
        T,
    ),
    ("norm", lambda x, t: (norm(t, 2.0).logpdf(x), norm.ppf(x), norm.sf(x), norm.pdf(x)), X, T),
    ("gamma", lambda x, t: (gamma.logpdf(x, 2.0, scale=t), gamma.cdf(x, t)), X, T),
    ("beta", lambda x, t: (beta.logpdf(x, t, 2.0), beta.cdf(x, 2.0, t)), X, T),
    ("t", lambda x, t: scipy.stats.t.logpdf(x, 3.0, t), X, T),
    (
        "expon",
        lambda x, t: (scipy.stats.expon.logpdf(x, scale=t), scipy.stats.laplace.logcdf(x, t)),
        X,
        T,
    ),
    ("poisson", lambda t: (scipy.stats.poisson.logpmf(N, t), scipy.stats.binom.logpmf(N, 3, t)), T),
    ("vectors", lambda x, v: multivariate_normal.logpdf(x, v, np.diag(v)), X, V),
    (
        "math",
        lambda t: (math.log(t, 3), math.floor(t) * t, math.ceil(2 * t) * t, round(np.sum(t), 1)),
        T,
    ),
    (
        "math",
        lambda t: (math.sin(t), exp(t) * math.pi, math.sqrt(2 * t), math.erf(t), math.lgamma(t)),
        T,
    ),
    ("math", lambda t: (math.atan2(t, 2.0), math.log1p(t), math.pow(t, 3), math.hypot(t, 1.0)), T),
]


def test_distributions_agree_with_scipy(case, check):
    _, f, *args = case
    check(f, *args)
