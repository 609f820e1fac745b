"""Sample points of arithmetic."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
ROW = np.array([0.6, -0.9, 1.4])
COLUMN = np.array([[1.9], [-0.8]])
K = np.array([3, 1, 2])

SAMPLES = [
    *[Call.of(name, X, ROW) for name in ("add", "subtract", "multiply", "divide")],
    *[Call.of(name, COLUMN, ROW) for name in ("add", "subtract", "multiply", "divide")],
    *[Call.of(name, X, 1.5) for name in ("add", "subtract", "multiply", "divide")],
    Call.of("multiply", X, K),
    *[Call.of(name, X) for name in ("negative", "positive", "square", "reciprocal", "absolute")],
    Call.of("sqrt", P),
    Call.of("power", P, ROW),
    Call.of("power", P, 0 * ROW),
    Call.of("power", X, 3.0),
    Call.of("power", X, 0.0),
    Call.of("power", 2.0, X),
    Call.of("floor_divide", X, P),
    Call.of("remainder", X, P),
    Call.of("remainder", X, -0.9),
]
