"""Sample points of covariances."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(14).normal(size=(3, 5))
W = np.linspace(0.5, 2, 5)

SAMPLES = [
    *[Call.of(name, X) for name in ("cov", "corrcoef")],
    *[Call.of(name, X, X[0] * X[1]) for name in ("cov", "corrcoef")],
    *[Call.of(name, X, rowvar=False) for name in ("cov", "corrcoef")],
    Call.of("cov", X[0]),
    Call.of("cov", X, bias=True),
    Call.of("cov", X, ddof=2),
    Call.of("cov", X, aweights=W),
    Call.of("cov", X, X[0] * X[1], ddof=0, fweights=np.array([1, 2, 3, 1, 2]), aweights=W),
    Call.of("cov", X, fweights=np.array([1, 2, 3, 1, 2])),
]
