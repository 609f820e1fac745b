"""Sample points of questions whether arrays agree."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(71).normal(size=(2, 3))

SAMPLES = [
    *[Call.of(name, X, X[0] + 1e-9) for name in ("isclose", "allclose")],
    *[Call.of(name, X, X[:1], 0.1, np.array(0.2), True) for name in ("isclose", "allclose")],
    *[Call.of("array_equal", X, y, same) for y in (X + 0, X[0]) for same in (False, True)],
    *[Call.of(name, X) for name in ("isposinf", "isneginf")],
]
