"""Sample points of arithmetic."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
ROW = np.array([0.6, -0.9, 1.4])
COLUMN = np.array([[1.9], [-0.8]])
K = np.array([3, 1, 2])

SAMPLES = [
    *calls("add subtract multiply divide", X, ROW),
    *calls("add subtract multiply divide", COLUMN, ROW),
    *calls("add subtract multiply divide", X, 1.5),
    call("multiply", X, K),
    *calls("negative positive square reciprocal absolute", X),
    call("sqrt", P),
    call("power", P, ROW),
    call("power", P, 0 * ROW),
    call("power", X, 3.0),
    call("power", X, 0.0),
    call("power", 2.0, X),
    call("floor_divide", X, P),
    call("remainder", X, P),
    call("remainder", X, -0.9),
]
