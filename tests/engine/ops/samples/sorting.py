"""Sample points of sorting."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(5).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)

SAMPLES = [
    *[Call.of(name, X, axis) for name in ("sort", "argsort") for axis in (None, 0, -1)],
    *[Call.of(name, X, 1, descending=True) for name in ("sort", "argsort")],
    *[Call.of(name, np.zeros((2, 0))) for name in ("sort", "argsort")],
    *[Call.of("top_k", X, k) for k in (0, 1, 3)],
    *[Call.of(name, X, 2, axis) for name in ("partition", "argpartition") for axis in (1, -1)],
    Call.of("partition", X, (0, -1), None),
    *[Call.of("lexsort", keys) for keys in ([X[0], X[1] > 0], X)],
    Call.of("lexsort", [X > 1, X > 0], 1),
]
