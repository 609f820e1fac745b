"""Sample points of choices."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.6, -0.9, 1.4])
EARLY, LATE = X < 0, X > 1

SAMPLES = [
    Call.of("select", [EARLY, LATE], [X, ROW]),
    Call.of("select", (EARLY[0], LATE), (2.0, X), ROW),
    Call.of("select", [], [], ROW),
    Call.of("choose", np.array([2, 0, 1]), [X, ROW, 0.5]),
    Call.of("choose", np.array([[0], [1]]), (X, ROW)),
    Call.of("choose", np.array([[0], [0]]), (ROW,)),
]
