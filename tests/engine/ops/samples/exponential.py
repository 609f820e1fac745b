"""Sample points of exponentials and logarithms."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
ROW = np.array([0.6, -0.9, 1.4])

SAMPLES = [
    *[Call.of(name, X) for name in ("exp", "expm1", "exp2", "cbrt")],
    *[Call.of(name, P) for name in ("log", "log1p", "log2", "log10", "rsqrt")],
    Call.of("log1p", X / 2),
    *[Call.of(name, X, ROW) for name in ("logaddexp", "logaddexp2")],
    Call.of("logaddexp", X, 0.5),
    Call.of("xlogy", X, P),
    Call.of("xlogy", 2.0, P),
]
