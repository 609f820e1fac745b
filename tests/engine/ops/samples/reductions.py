"""Sample points of reductions."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(1).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
ZEROS = np.array([[2.0, 0.0, 4.0], [0.0, 3.0, 0.0]])
AXES = (None, 0, -1, (0, 2), (-1, 0), (), (2, 1, 0))

SAMPLES = [
    *[Call.of(name, X, axis) for name in ("sum", "prod") for axis in AXES],
    *[Call.of(name, X, axis) for name in ("max", "min") for axis in AXES],
    *[Call.of(name, X, axis=1, keepdims=True) for name in ("sum", "prod", "max", "min")],
    *[Call.of(name, np.array(0.6)) for name in ("sum", "prod", "max", "min")],
    *[Call.of("prod", ZEROS, axis) for axis in (None, 0, 1)],
    *[Call.of(name, np.zeros((0, 3)), axis) for name in ("sum", "prod") for axis in (None, 0, 1)],
    *[Call.of(name, X > 0, 1, keepdims=True) for name in ("any", "all", "count_nonzero")],
    *[Call.of(name, X, axis) for name in ("argmax", "argmin") for axis in (None, 1, -1)],
    Call.of("argmax", X, None, True),
    *[Call.of(name, X, 1, where=X > 0, initial=0.3) for name in ("sum", "prod", "max", "min")],
    *[Call.of(name, X, where=X[0] > 0) for name in ("sum", "prod")],
    *[Call.of(name, X > 0, 1, where=X[:, 1:2] > 0) for name in ("any", "all")],
]
