"""Sample points of choices and limits."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
ROW = np.array([0.6, -0.9, 1.4])
CHOICE = np.array([[True], [False]])
LOW = np.array([-0.5, -1.0, 0.5])

SAMPLES = [
    call("where", CHOICE, X, ROW),
    call("where", CHOICE, 1.0, ROW),
    call("where", np.array([0, 2, 1]), X, 0.0),
    *calls("maximum minimum", X, ROW),
    *calls("maximum minimum", X, 0.5),
    call("clip", X, -1.0, 1.0),
    call("clip", X, LOW, 2.0),
    call("clip", X, None, 1.0),
    call("clip", X, min=LOW),
    call("clip", X, max=LOW),
    *calls("sign floor ceil trunc rint round", X),
    call("round", X, 1),
]
