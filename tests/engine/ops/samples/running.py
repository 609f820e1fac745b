"""Sample points of running extrema and logarithms of sums."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(12).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
NAMES = ("cummax", "cummin", "cumlogsumexp")

SAMPLES = [
    *[call(name, X, axis) for name in NAMES for axis in (None, 0, -1, 1)],
    *[call(name, np.zeros((0, 2)), axis) for name in NAMES for axis in (0, 1)],
]
