"""Sample points of differences and unwrapped phases."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(59).normal(size=(3, 4)) * 4

REAL = ("unwrap",)
SAMPLES = [
    *[Call.of("ediff1d", x) for x in (X, X[0, 0], X[:0])],
    Call.of("ediff1d", X, X[:2], np.array(0.5)),
    Call.of("ediff1d", X, to_begin=X[0]),
    *[Call.of("unwrap", X, axis=axis) for axis in (-1, 0)],
    Call.of("unwrap", X, 5.0, 0),
    Call.of("unwrap", X, period=np.array(1.83)),
    Call.of("unwrap", X[:, :1]),
    Call.of("unwrap", X[:0]),
]
