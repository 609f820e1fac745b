"""Sample points of scattered updates and blocks."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(19).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
POINTS = np.array([[1, 2], [0, 1], [1, 2]])
ROWS = np.random.default_rng(20).permutation(np.linspace(-2.0, 1.8, 12)).reshape(3, 4)
NAMES = [f"tensor_scatter_nd_{n}" for n in ("update", "add", "sub", "max", "min", "multiply")]

SAMPLES = [
    *[call(name, X, POINTS, ROWS) for name in NAMES],
    *[call(name, X, np.array([1]), ROWS) for name in NAMES],
    *[call(name, ROWS[0], np.array([[[3], [0]]]), X[:1, 0, :2]) for name in NAMES],
    *[call(name, X, POINTS[:0], ROWS[:0]) for name in NAMES],
    call("tensor_scatter_nd_multiply", np.zeros(3), np.array([[0], [2], [0]]), X[0, :, 0]),
    call("gather_nd", X, POINTS),
    call("gather_nd", X, np.array([[[0]], [[1]]])),
    *[call("dynamic_slice", X, at, (1, 2, 3)) for at in ([0, 1, 0], np.array([1, 9, -2]))],
    call("dynamic_slice", ROWS[0], np.array(1), 2),
    call("dynamic_slice", X, [0, 0, 0], (1, 0, 3)),
    *[call("dynamic_update_slice", X, ROWS[None, :2, :3], at) for at in ([1, 1, 1], [9, 0, 0])],
    call("dynamic_update_slice", ROWS[0], ROWS[1, :2], np.array([1])),
]
