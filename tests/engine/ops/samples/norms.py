"""Sample points of norms."""

from math import inf

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(3).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
ORDERS = (1, 2, 3, 0.5, 0, inf, -inf, "inf")

SAMPLES = [
    call("norm", X),
    call("norm", np.array(-0.7)),
    *[call("norm", X, None, axis, True) for axis in (0, (1, 2), (0, 1, 2))],
    *[call("norm", X, order, -1) for order in ORDERS],
    *[call("norm", X, order, (2, 0)) for order in (1, -1, inf, -inf, "fro")],
    call("norm", X[0], 1),
    call("linalg.norm", X, 1, (0, 1), True),
    *[call("vector_norm", X, axis, ord=3) for axis in (None, (0, 2))],
    call("linalg.matrix_norm", X),
    call("matrix_norm", X, True, ord=1),
]
