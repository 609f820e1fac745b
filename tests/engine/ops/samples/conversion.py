"""Sample points of conversions."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
SCALAR = np.array(0.7)

SAMPLES = [
    *[Call.of("astype", X, dtype) for dtype in ("float64", "complex128", "int32", "bool")],
    Call.of("astype", X + 1j, "float64"),
    Call.of("array", X),
    Call.of("array", [[SCALAR, 1.0], [2.0, SCALAR]]),
    Call.of("array", [1, 2], "float32"),
]
