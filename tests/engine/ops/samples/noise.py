"""Sample points of noise in networks, for a fixed key."""

import numpy as np

from tests.engine.ops.calls import call

KEY = np.array(5)
PAIR = np.array([2, 40])
LOGITS = np.array([[0.3, -1.2, 2.0], [0.0, 1.0, -0.5]])
X = np.random.default_rng(18).normal(size=(4, 3))

SAMPLES = [
    *[call("random.dropout", KEY, x, 0.4) for x in (X, X[:0], X[0, 0])],
    call("random.dropout", KEY, X, np.array(0.25)),
    call("random.gumbel_softmax", KEY, LOGITS),
    call("random.gumbel_softmax", PAIR, LOGITS, np.array(0.6), axis=0),
    call("random.dropout", KEY, X, 0.5, (4, 1)),
]
