"""Sample points of diagonals and triangles."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)

SAMPLES = [
    *[Call.of(name, X, k) for name in ("tril", "triu") for k in (0, 1, -1, 7)],
    *[Call.of("diag", v, k) for v in (X[0], X[0, 0], X[0, 0, :0]) for k in (0, 1, -2)],
    Call.of("diagflat", X[0], -1),
    *[Call.of("diagonal", X, *args) for args in ((), (1,), (-1, 2, 0), (9,))],
    *[Call.of("trace", X, *args) for args in ((), (1, 0, 2))],
    *[Call.of(name, X, 1) for name in ("linalg.diagonal", "linalg.trace")],
    Call.of("eye", 3),
    Call.of("eye", 2, 4, -1, "float32"),
    Call.of("identity", 2),
    Call.of("tri", 3, 4, 1),
]
