"""Sample points of statistics."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(2).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
WEIGHTS = np.array([0.2, 1.4, 0.9])
AXES = (None, 0, (0, 2), (-1, 1))

SAMPLES = [
    *[call(name, X, axis) for name in ("mean", "var", "std", "ptp") for axis in AXES],
    *[call("average", X, axis) for axis in AXES],
    *calls("mean var std ptp", X, 1, keepdims=True),
    *calls("var std", X, 1, ddof=1),
    *calls("var std", X, -1, correction=0.5),
    call("mean", X, dtype="complex128"),
    call("average", X, 1, WEIGHTS),
    call("average", X, (1, 0), np.abs(X[:, :, 0].T)),
    call("average", X, None, np.abs(X), True),
    *calls("mean var std", X, 1, where=X > -0.6),
    *calls("mean var std", X, keepdims=True, where=X[1] > 0),
    call("var", X, 2, ddof=1, where=X > -0.9),
]
