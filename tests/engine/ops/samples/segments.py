"""Sample points of reductions by segment."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(18).permutation(np.linspace(-1.1, 1.9, 15)).reshape(5, 3)
ZEROS = np.array([0.0, 2.0, 0.0, 3.0, 0.0])
IDS = np.array([2, 0, 2, 3, 2])
NAMES = [f"segment_{name}" for name in ("sum", "mean", "max", "min", "prod")]

FULL = np.array([2, 0, 2, 1, 2])

SAMPLES = [
    *[call(name, X, FULL, 3) for name in NAMES],
    *[call(name, X[:, 0], FULL, 3) for name in NAMES],
    *[call(name, X[:0], IDS[:0], 0) for name in NAMES],
    *[call(f"segment_{name}", X, IDS, 5) for name in ("sum", "mean", "prod")],
    *[call("segment_prod", ZEROS, ids, 4) for ids in (IDS, IDS * 0, np.array([1, 1, 2, 2, 3]))],
]
