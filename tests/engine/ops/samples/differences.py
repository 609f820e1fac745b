"""Sample points of differences and unwrapped phases."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(59).normal(size=(3, 4)) * 4

REAL = ("unwrap",)
SAMPLES = [
    *[call("ediff1d", x) for x in (X, X[0, 0], X[:0])],
    call("ediff1d", X, X[:2], np.array(0.5)),
    call("ediff1d", X, to_begin=X[0]),
    *[call("unwrap", X, axis=axis) for axis in (-1, 0)],
    call("unwrap", X, 5.0, 0),
    call("unwrap", X, period=np.array(1.83)),
    call("unwrap", X[:, :1]),
    call("unwrap", X[:0]),
]
