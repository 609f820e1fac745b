"""Sample points of conversions."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
SCALAR = np.array(0.7)

SAMPLES = [
    *[call("astype", X, dtype) for dtype in ("float64", "complex128", "int32", "bool")],
    call("astype", X + 1j, "float64"),
    call("array", X),
    call("array", [[SCALAR, 1.0], [2.0, SCALAR]]),
    call("array", [1, 2], "float32"),
]
