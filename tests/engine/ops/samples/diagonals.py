"""Sample points of diagonals and triangles."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)

SAMPLES = [
    *[call(name, X, k) for name in ("tril", "triu") for k in (0, 1, -1, 7)],
    *[call("diag", v, k) for v in (X[0], X[0, 0], X[0, 0, :0]) for k in (0, 1, -2)],
    call("diagflat", X[0], -1),
    *[call("diagonal", X, *args) for args in ((), (1,), (-1, 2, 0), (9,))],
    *[call("trace", X, *args) for args in ((), (1, 0, 2))],
    *calls("linalg.diagonal linalg.trace", X, 1),
    call("eye", 3),
    call("eye", 2, 4, -1, "float32"),
    call("identity", 2),
    call("tri", 3, 4, 1),
]
