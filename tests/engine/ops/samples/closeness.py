"""Sample points of questions whether arrays agree."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(71).normal(size=(2, 3))

SAMPLES = [
    *calls("isclose allclose", X, X[0] + 1e-9),
    *calls("isclose allclose", X, X[:1], 0.1, np.array(0.2), True),
    *[call("array_equal", X, y, same) for y in (X + 0, X[0]) for same in (False, True)],
    *calls("isposinf isneginf", X),
]
