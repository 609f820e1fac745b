"""Sample points of further functions of two numbers."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.6, -0.9, 1.4])

PAIRED = ("fmax", "fmin", "copysign", "fmod", "divmod", "divide_no_nan", "squared_difference")

SAMPLES = [
    *[Call.of(name, X, ROW) for name in PAIRED],
    *[Call.of(name, X, 0.5) for name in PAIRED],
    *[Call.of(name, np.zeros((0, 3)), ROW) for name in PAIRED],
    *[Call.of(name, ROW, np.nan) for name in ("fmax", "fmin")],
    Call.of("heaviside", np.array([-1.0, 2.0]), ROW[:2]),
    Call.of("heaviside", np.array([0, -1, 2]), ROW),
    Call.of("float_power", np.abs(X), ROW),
    Call.of("float_power", X, 3),
    Call.of("divide_no_nan", X, np.array([0, 2, 0])),
    Call.of("lerp", X, ROW, 0.3),
    Call.of("lerp", 1.0, ROW, X),
]
