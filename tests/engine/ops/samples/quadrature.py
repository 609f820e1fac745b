"""Sample points of areas under tables."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(13).normal(size=(3, 4, 2))
RISING = np.array([-1.0, 0.2, 0.7, 2.1])
NAMES = ("trapezoid", "cumulative_trapezoid", "simpson")

SAMPLES = [
    *[call(name, X, axis=axis) for name in NAMES for axis in (-1, 0)],
    *[call(name, X, RISING, axis=1) for name in NAMES],
    *[call(name, X, np.cumsum(X * X + 0.3, 0), axis=0) for name in NAMES],
    *[call(name, X, np.cumsum(X[0] ** 2 + 0.3, 0), axis=1) for name in NAMES],
    *[call(name, X, dx=0.5, axis=1) for name in NAMES],
    *[call(name, X, dx=np.array(0.5), axis=0) for name in NAMES],
    *[call(name, X[:, :n], axis=1) for name in NAMES for n in (0, 1)],
    call("cumulative_trapezoid", X, RISING, axis=1, initial=0),
]
