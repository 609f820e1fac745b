"""Sample points of further functions of two numbers."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.6, -0.9, 1.4])

PAIRED = ("fmax", "fmin", "copysign", "fmod", "divmod", "divide_no_nan", "squared_difference")

SAMPLES = [
    *[call(name, X, ROW) for name in PAIRED],
    *[call(name, X, 0.5) for name in PAIRED],
    *[call(name, np.zeros((0, 3)), ROW) for name in PAIRED],
    *calls("fmax fmin", ROW, np.nan),
    call("heaviside", np.array([-1.0, 2.0]), ROW[:2]),
    call("heaviside", np.array([0, -1, 2]), ROW),
    call("float_power", np.abs(X), ROW),
    call("float_power", X, 3),
    call("divide_no_nan", X, np.array([0, 2, 0])),
    call("lerp", X, ROW, 0.3),
    call("lerp", 1.0, ROW, X),
]
