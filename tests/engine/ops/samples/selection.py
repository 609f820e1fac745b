"""Sample points of choices and limits."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.6, -0.9, 1.4])
CHOICE = np.array([[True], [False]])
LOW = np.array([-0.5, -1.0, 0.5])

SAMPLES = [
    Call.of("where", CHOICE, X, ROW),
    Call.of("where", CHOICE, 1.0, ROW),
    Call.of("where", np.array([0, 2, 1]), X, 0.0),
    *[Call.of(name, X, ROW) for name in ("maximum", "minimum")],
    *[Call.of(name, X, 0.5) for name in ("maximum", "minimum")],
    Call.of("clip", X, -1.0, 1.0),
    Call.of("clip", X, LOW, 2.0),
    Call.of("clip", X, None, 1.0),
    Call.of("clip", X, min=LOW),
    Call.of("clip", X, max=LOW),
    *[Call.of(name, X) for name in ("sign", "floor", "ceil", "trunc", "rint", "round")],
    Call.of("round", X, 1),
]
