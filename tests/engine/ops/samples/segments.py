"""Sample points of reductions by segment."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(18).permutation(np.linspace(-1.1, 1.9, 15)).reshape(5, 3)
ZEROS = np.array([0.0, 2.0, 0.0, 3.0, 0.0])
IDS = np.array([2, 0, 2, 3, 2])
NAMES = [f"segment_{name}" for name in ("sum", "mean", "max", "min", "prod")]

FULL = np.array([2, 0, 2, 1, 2])

SAMPLES = [
    *[Call.of(name, X, FULL, 3) for name in NAMES],
    *[Call.of(name, X[:, 0], FULL, 3) for name in NAMES],
    *[Call.of(name, X[:0], IDS[:0], 0) for name in NAMES],
    *[Call.of(f"segment_{name}", X, IDS, 5) for name in ("sum", "mean", "prod")],
    *[Call.of("segment_prod", ZEROS, ids, 4) for ids in (IDS, IDS * 0, np.array([1, 1, 2, 2, 3]))],
]
