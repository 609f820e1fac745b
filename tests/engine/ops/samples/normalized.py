"""Sample points of normalised exponentials."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
WEIGHTS = np.array([0.5, 1.5, 2.0])

SAMPLES = [
    *[Call.of(name, X, axis=axis) for name in ("softmax", "log_softmax") for axis in (-1, 0, None)],
    *[Call.of("logsumexp", X, axis=axis) for axis in (None, 1, (0, 1))],
    Call.of("logsumexp", X, 0, keepdims=True),
    Call.of("logsumexp", X, 1, b=WEIGHTS),
    Call.of("logsumexp", X, 1, b=-WEIGHTS, return_sign=True),
    Call.of("logsumexp", X, return_sign=True, keepdims=True),
    Call.of("logsumexp", X[0], b=np.array([[0.5], [1.5]]), axis=0, keepdims=True),
]
