"""Sample points of pooling."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(41)
X = RNG.permutation(42).reshape(2, 3, 7) / 10 - 2.03
IMAGE = RNG.permutation(40).reshape(2, 5, 4) / 10 - 2.03

WINDOWS = [
    ((X, 2), {}),
    ((X, 3, 1), {}),
    ((X[0, 0], 7), {}),
    ((X, 3, 2, 1), {}),
    ((X[:0], 2), {}),
    ((X, (2,), 3, "same", 2), {}),
    ((X, 2, 3, 1), {"ceil_mode": True}),
    ((IMAGE, (2, 3)), {}),
    ((IMAGE, (3, 2), (2, 1), (1, 0), (1, 2)), {"ceil_mode": True}),
    ((IMAGE, (3, 2), 2, ((2, 0), (0, 1))), {}),
    ((IMAGE, 1), {}),
    ((IMAGE, (1, 2, 2)), {}),
]

SAMPLES = [
    *[
        call(name, *args, **kwargs)
        for name in ("max_pool", "average_pool")
        for args, kwargs in WINDOWS
    ],
    call("max_pool", IMAGE, (2, 2), padding=1, return_indices=True),
    call("average_pool", IMAGE, (2, 2), padding=1, count_include_pad=True),
    call("average_pool", X, 3, 2, 1, 1, True, True),
    call("average_pool", X, 3, divisor=2),
    call("lp_pool", X, 2, 3, 1),
    call("lp_pool", IMAGE, 3, (2, 2), None, 1),
]
REAL = {"lp_pool"}
