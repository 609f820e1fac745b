"""Sample points of comparisons, logic and bit operations."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.7, -0.4, 0.0])
BITS = np.array([5, -3, 12])
FLAGS = np.array([True, False, True])

SAMPLES = [
    *[Call.of(name, X, ROW) for name in ("equal", "not_equal", "less", "less_equal")],
    *[Call.of(name, X, ROW) for name in ("greater", "greater_equal")],
    *[Call.of(name, X, ROW) for name in ("logical_and", "logical_or", "logical_xor")],
    *[Call.of(name, X) for name in ("logical_not", "isnan", "isinf", "isfinite")],
    *[Call.of(name, BITS, 6) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")],
    *[Call.of(name, FLAGS, FLAGS) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")],
    *[Call.of(name, BITS, 2) for name in ("left_shift", "right_shift")],
    *[Call.of("invert", x) for x in (BITS, FLAGS)],
]
