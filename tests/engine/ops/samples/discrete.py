"""Sample points of what is chosen and counted, for a fixed key."""

import numpy as np
from gradwire_engine.check import Call

KEY = np.array(5)
PAIR = np.array([2, 40])
CHANCE = np.array([0.0, 0.3, 1.0])
LOGITS = np.array([[0.3, -1.2, 2.0], [0.0, 1.0, -0.5]])
X = np.random.default_rng(18).normal(size=(4, 3))

SAMPLES = [
    Call.of("random.bernoulli", KEY),
    Call.of("random.bernoulli", KEY, CHANCE, (2, 3)),
    Call.of("random.randint", KEY, (2, 3), -3, 9),
    Call.of("random.randint", PAIR, None, np.array([0, 5]), np.array([[1], [3]]), "int32"),
    Call.of("random.rademacher", KEY, (2, 3), "float32"),
    Call.of("random.poisson", KEY, np.array([0.0, 0.5, 80.0])),
    Call.of("random.binomial", KEY, np.array([[0.0], [20.0]]), CHANCE),
    Call.of("random.geometric", KEY, np.array([0.1, 1.0])),
    Call.of("random.categorical", KEY, LOGITS),
    Call.of("random.categorical", KEY, LOGITS, 0, (4, 3)),
    Call.of("random.permutation", KEY, 4),
    *[Call.of("random.permutation", KEY, X, axis) for axis in (0, -1)],
    Call.of("random.permutation", PAIR, X, 1, True),
    Call.of("random.permutation", PAIR, X[:0]),
    Call.of("random.choice", KEY, 5, (3,)),
    Call.of("random.choice", KEY, X, (2, 2)),
    Call.of("random.choice", KEY, X, (2,), False, None, 1),
    *[Call.of("random.choice", KEY, X[:3], 2, replace, CHANCE) for replace in (True, False)],
]
