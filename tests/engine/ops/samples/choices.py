"""Sample points of choices."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.6, -0.9, 1.4])
EARLY, LATE = X < 0, X > 1

SAMPLES = [
    call("select", [EARLY, LATE], [X, ROW]),
    call("select", (EARLY[0], LATE), (2.0, X), ROW),
    call("select", [], [], ROW),
    call("choose", np.array([2, 0, 1]), [X, ROW, 0.5]),
    call("choose", np.array([[0], [1]]), (X, ROW)),
    call("choose", np.array([[0], [0]]), (ROW,)),
]
