"""The normal law of vectors, in all forms in which SciPy takes its parameters."""

import numpy as np
from scipy.stats import multivariate_normal

RNG = np.random.default_rng(4)
POINTS = RNG.normal(size=(4, 2))
X = np.array([0.4, -0.2])
COV = np.array([[1.5, 0.3], [0.3, 0.8]])


def scaled(s):
    return COV * s


CASES = [
    ("mean", lambda m: multivariate_normal.logpdf(POINTS, m, COV), X),
    ("scale", lambda s: multivariate_normal.pdf(POINTS, X, scaled(s)), 1.3),
    ("by name", lambda s: multivariate_normal.logpdf(X, mean=None, cov=scaled(s)), 1.3),
    ("frozen", lambda s: multivariate_normal(mean=X * s, cov=scaled(s)).logpdf(POINTS), 1.3),
    ("frozen density", lambda s: multivariate_normal(X, scaled(s)).pdf(X), 1.3),
    ("point of a frozen one", multivariate_normal(X, COV).logpdf, POINTS),
    ("entropy", lambda s: multivariate_normal.entropy(X, scaled(s)), 1.3),
    ("entropy of a frozen one", lambda s: multivariate_normal(X, scaled(s)).entropy(), 1.3),
    ("a variance for all", lambda s: multivariate_normal.logpdf(POINTS, X, s), 1.3),
    ("a variance for each", lambda v: multivariate_normal.logpdf(POINTS, X, v), np.array([1.0, 2])),
    ("numbers", lambda x: multivariate_normal.logpdf(x, 0.5, 2.0), X),
    ("a number", lambda x: multivariate_normal.logpdf(x, 0.5, 2.0), 0.3),
    ("one of them", lambda x: multivariate_normal.logpdf(x, [0.5], [[2.0]]), X[:1]),
    (
        "singular",
        lambda s: multivariate_normal.logpdf(
            np.array([0.3 * s, 0.0]), cov=np.diag([s, 0.0]), allow_singular=True
        ),
        1.3,
    ),
    (
        "out of its span",
        lambda s: multivariate_normal.logpdf(
            np.array([[s, 0.0], [s, 1.0]]), cov=np.diag([1.0, 0.0]), allow_singular=True
        )[0],
        1.3,
    ),
]


def test_values_and_derivatives_are_those_of_scipy(case, check):
    _, f, x = case
    check(f, x, order=1)
