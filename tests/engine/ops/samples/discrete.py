"""Sample points of what is chosen and counted, for a fixed key."""

import numpy as np

from tests.engine.ops.calls import call

KEY = np.array(5)
PAIR = np.array([2, 40])
CHANCE = np.array([0.0, 0.3, 1.0])
LOGITS = np.array([[0.3, -1.2, 2.0], [0.0, 1.0, -0.5]])
X = np.random.default_rng(18).normal(size=(4, 3))

SAMPLES = [
    call("random.bernoulli", KEY),
    call("random.bernoulli", KEY, CHANCE, (2, 3)),
    call("random.randint", KEY, (2, 3), -3, 9),
    call("random.randint", PAIR, None, np.array([0, 5]), np.array([[1], [3]]), "int32"),
    call("random.rademacher", KEY, (2, 3), "float32"),
    call("random.poisson", KEY, np.array([0.0, 0.5, 80.0])),
    call("random.binomial", KEY, np.array([[0.0], [20.0]]), CHANCE),
    call("random.geometric", KEY, np.array([0.1, 1.0])),
    call("random.categorical", KEY, LOGITS),
    call("random.categorical", KEY, LOGITS, 0, (4, 3)),
    call("random.permutation", KEY, 4),
    *[call("random.permutation", KEY, X, axis) for axis in (0, -1)],
    call("random.permutation", PAIR, X, 1, True),
    call("random.permutation", PAIR, X[:0]),
    call("random.choice", KEY, 5, (3,)),
    call("random.choice", KEY, X, (2, 2)),
    call("random.choice", KEY, X, (2,), False, None, 1),
    *[call("random.choice", KEY, X[:3], 2, replace, CHANCE) for replace in (True, False)],
]
