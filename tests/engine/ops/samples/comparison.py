"""Sample points of comparisons, logic and bit operations."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.7, -0.4, 0.0])
BITS = np.array([5, -3, 12])
FLAGS = np.array([True, False, True])

SAMPLES = [
    *calls("equal not_equal less less_equal", X, ROW),
    *calls("greater greater_equal", X, ROW),
    *calls("logical_and logical_or logical_xor", X, ROW),
    *calls("logical_not isnan isinf isfinite", X),
    *calls("bitwise_and bitwise_or bitwise_xor", BITS, 6),
    *calls("bitwise_and bitwise_or bitwise_xor", FLAGS, FLAGS),
    *calls("left_shift right_shift", BITS, 2),
    *[call("invert", x) for x in (BITS, FLAGS)],
]
