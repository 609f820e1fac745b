"""Sample points of parts and borders."""

import numpy as np

from tests.engine.ops.calls import call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)

SAMPLES = [
    *[call("split", X, parts, -1) for parts in (1, 2, 4, [1, 3], [3, 1, 9], [-1])],
    call("split", X, 2),
    *[call("array_split", X, parts, 1) for parts in (2, 5, [2])],
    *[call("unstack", X, axis) for axis in (0, 1, -1)],
]
