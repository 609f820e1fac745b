"""Sample points of order statistics."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(2).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
Q = np.array([[0.13, 0.48], [0.71, 0.92]])
AXES = (None, 0, (0, 2), (-1, 1))
METHODS = ("linear", "hazen", "weibull", "median_unbiased", "interpolated_inverted_cdf")
STEPPING = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "midpoint", "nearest")

REAL = ("quantile", "percentile", "nanquantile", "nanpercentile")
SAMPLES = [
    *[call(name, X, axis) for name in ("median", "nanmedian") for axis in AXES],
    *calls("median nanmedian", X, 1, keepdims=True),
    *[
        call(name, X, q, axis)
        for name in ("quantile", "nanquantile")
        for q, axis in (
            *zip((0, 0.3, 1, np.array(0.37)), AXES, strict=True),
            *((Q, axis) for axis in AXES),
        )
    ],
    *[call("quantile", X, Q, 2, method) for method in (*METHODS, *STEPPING)],
    *calls("quantile nanquantile", X, 0.3, 1, "linear", True),
    call("quantile", X, Q, (0, 1), keepdims=True),
    call("quantile", X[:0], Q, 1),
    call("quantile", X[0, 0, 0], Q),
    *[call(name, X, q, 1) for name in ("percentile", "nanpercentile") for q in (30, Q * 100)],
]
