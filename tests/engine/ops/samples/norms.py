"""Sample points of norms."""

from math import inf

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(3).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
ORDERS = (1, 2, 3, 0.5, 0, inf, -inf, "inf")

SAMPLES = [
    Call.of("norm", X),
    Call.of("norm", np.array(-0.7)),
    *[Call.of("norm", X, None, axis, True) for axis in (0, (1, 2), (0, 1, 2))],
    *[Call.of("norm", X, order, -1) for order in ORDERS],
    *[Call.of("norm", X, order, (2, 0)) for order in (1, -1, inf, -inf, "fro")],
    Call.of("norm", X[0], 1),
    Call.of("linalg.norm", X, 1, (0, 1), True),
    *[Call.of("vector_norm", X, axis, ord=3) for axis in (None, (0, 2))],
    Call.of("linalg.matrix_norm", X),
    Call.of("matrix_norm", X, True, ord=1),
]
