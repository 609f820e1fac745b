"""Sample points of statistics."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(2).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
WEIGHTS = np.array([0.2, 1.4, 0.9])
AXES = (None, 0, (0, 2), (-1, 1))

SAMPLES = [
    *[Call.of(name, X, axis) for name in ("mean", "var", "std", "ptp") for axis in AXES],
    *[Call.of("average", X, axis) for axis in AXES],
    *[Call.of(name, X, 1, keepdims=True) for name in ("mean", "var", "std", "ptp")],
    *[Call.of(name, X, 1, ddof=1) for name in ("var", "std")],
    *[Call.of(name, X, -1, correction=0.5) for name in ("var", "std")],
    Call.of("mean", X, dtype="complex128"),
    Call.of("average", X, 1, WEIGHTS),
    Call.of("average", X, (1, 0), np.abs(X[:, :, 0].T)),
    Call.of("average", X, None, np.abs(X), True),
    *[Call.of(name, X, 1, where=X > -0.6) for name in ("mean", "var", "std")],
    *[Call.of(name, X, keepdims=True, where=X[1] > 0) for name in ("mean", "var", "std")],
    Call.of("var", X, 2, ddof=1, where=X > -0.9),
]
