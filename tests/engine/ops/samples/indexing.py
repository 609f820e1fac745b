"""Sample points of indexing and gathering."""

import numpy as np

from tests.engine.ops.calls import call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)
REPEATED = np.array([2, 0, 2, 1])

SAMPLES = [
    *[call("take", X, REPEATED[:3], axis) for axis in (1, -1)],
    call("take", X, np.array([[0, 23], [5, 5]])),
    call("take", X, np.array(1), 0),
    call("take", X, np.zeros(0, int), 1),
    *[call("take", X, REPEATED * 3 - 2, 1, mode) for mode in ("wrap", "clip")],
    call("gather", X, np.array([[1, 0], [1, 1]])),
    call("gather", X, np.array([-1, 0]), 2),
    *[call("take_along_axis", X, np.argsort(np.sin(9 * X), axis), axis) for axis in (0, 1, -1)],
]
