"""Sample points of pooling of so many parts."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(42)
X = RNG.permutation(42).reshape(2, 3, 7) / 10 - 2.03
IMAGE = RNG.permutation(40).reshape(2, 5, 4) / 10 - 2.03

SHAPES = [(X, 3), (X[0, 0], (7,)), (X, 1), (IMAGE, (2, 3)), (IMAGE, (None, 4)), (IMAGE, (7, 2))]

SAMPLES = [
    *[call("adaptive_average_pool", *args) for args in SHAPES],
    *[call("adaptive_max_pool", *args) for args in SHAPES],
    call("adaptive_max_pool", IMAGE, (2, 3), True),
]
