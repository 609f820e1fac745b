"""Sample points of parts and borders."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)

SAMPLES = [
    *[Call.of("split", X, parts, -1) for parts in (1, 2, 4, [1, 3], [3, 1, 9], [-1])],
    Call.of("split", X, 2),
    *[Call.of("array_split", X, parts, 1) for parts in (2, 5, [2])],
    *[Call.of("unstack", X, axis) for axis in (0, 1, -1)],
]
