"""Sample points of covariances."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(14).normal(size=(3, 5))
W = np.linspace(0.5, 2, 5)

SAMPLES = [
    *calls("cov corrcoef", X),
    *calls("cov corrcoef", X, X[0] * X[1]),
    *calls("cov corrcoef", X, rowvar=False),
    call("cov", X[0]),
    call("cov", X, bias=True),
    call("cov", X, ddof=2),
    call("cov", X, aweights=W),
    call("cov", X, X[0] * X[1], ddof=0, fweights=np.array([1, 2, 3, 1, 2]), aweights=W),
    call("cov", X, fweights=np.array([1, 2, 3, 1, 2])),
]
