"""Sample points of reductions."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(1).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
ZEROS = np.array([[2.0, 0.0, 4.0], [0.0, 3.0, 0.0]])
AXES = (None, 0, -1, (0, 2), (-1, 0), (), (2, 1, 0))

SAMPLES = [
    *[call(name, X, axis) for name in ("sum", "prod") for axis in AXES],
    *[call(name, X, axis) for name in ("max", "min") for axis in AXES],
    *calls("sum prod max min", X, axis=1, keepdims=True),
    *calls("sum prod max min", np.array(0.6)),
    *[call("prod", ZEROS, axis) for axis in (None, 0, 1)],
    *[call(name, np.zeros((0, 3)), axis) for name in ("sum", "prod") for axis in (None, 0, 1)],
    *calls("any all count_nonzero", X > 0, 1, keepdims=True),
    *[call(name, X, axis) for name in ("argmax", "argmin") for axis in (None, 1, -1)],
    call("argmax", X, None, True),
    *calls("sum prod max min", X, 1, where=X > 0, initial=0.3),
    *calls("sum prod", X, where=X[0] > 0),
    *calls("any all", X > 0, 1, where=X[:, 1:2] > 0),
]
