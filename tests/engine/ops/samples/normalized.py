"""Sample points of normalised exponentials."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
WEIGHTS = np.array([0.5, 1.5, 2.0])

SAMPLES = [
    *[call(name, X, axis=axis) for name in ("softmax", "log_softmax") for axis in (-1, 0, None)],
    *[call("logsumexp", X, axis=axis) for axis in (None, 1, (0, 1))],
    call("logsumexp", X, 0, keepdims=True),
    call("logsumexp", X, 1, b=WEIGHTS),
    call("logsumexp", X, 1, b=-WEIGHTS, return_sign=True),
    call("logsumexp", X, return_sign=True, keepdims=True),
    call("logsumexp", X[0], b=np.array([[0.5], [1.5]]), axis=0, keepdims=True),
]
