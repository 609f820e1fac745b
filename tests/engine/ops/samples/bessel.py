"""Sample points of Bessel functions."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-2.3, -0.4, 0.3], [0.8, 1.7, 4.6]])
P = np.array([[0.8, 1.2, 3.4], [1.7, 2.5, 9.1]])
V = np.array([[-1.4, 0.0, 3.1], [1.7, 2.6, 12.0]])

SAMPLES = [
    *calls("j0 j1 i0 i1 i0e i1e", X),
    *calls("y0 y1 k0 k1", P),
    *calls("jv iv ive", 2, X),
    *calls("jv yv iv ive kv kve", [0.0, 0.4, 2.7], P),
    *calls("jv yv iv ive kv kve", V, P),
    *calls("jv yv iv kv kve", [0.0, 0.4, 2.7], P - 0.3j),
    *[call(name, 1.4, x) for name in ("hankel1", "hankel2") for x in (P, P - 0.3j)],
]
REAL = {"jv", "yv", "iv", "kv", "kve"}  # of complex arguments above, of complex orders NaN
