"""Sample points of slopes and interpolations of tables."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(13).normal(size=(3, 4, 2))
RISING = np.array([-1.0, 0.2, 0.7, 2.1])
POINTS = np.array([[-1.7, -0.4], [0.3, 2.0], [3.1, 0.9]])

REAL = ("interp",)
SAMPLES = [
    call("gradient", X),
    call("gradient", X, 0.5),
    call("gradient", X, 0.5, np.array(2.0), axis=(0, -1)),
    call("gradient", X, RISING, axis=1),
    call("gradient", X[0, :, 0], RISING),
    call("interp", POINTS, RISING, X[0, :, 0]),
    call("interp", POINTS, RISING, RISING, 0.5, np.array(1.5)),
    call("interp", np.array(0.5), RISING, X[0, :, 0] + 1j),
    call("interp", POINTS, RISING[:1], RISING[1:2]),
    call("interp", POINTS[:0], RISING, RISING),
    call("gradient", X, 0.5, axis=(0, 1), edge_order=2),
    call("gradient", X, RISING, axis=1, edge_order=2),
    call("gradient", X[0, :2, 0], RISING[:2]),
    call("interp", POINTS, np.array([2.2, 0.2, -1.4]), X[0, :3, 0], period=4.0),
    call("interp", POINTS, RISING[:1], RISING[1:2], period=np.array(-2.5)),
]
