"""Sample points of Bessel functions."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-2.3, -0.4, 0.3], [0.8, 1.7, 4.6]])
P = np.array([[0.8, 1.2, 3.4], [1.7, 2.5, 9.1]])
V = np.array([[-1.4, 0.0, 3.1], [1.7, 2.6, 12.0]])

SAMPLES = [
    *[Call.of(name, X) for name in ("j0", "j1", "i0", "i1", "i0e", "i1e")],
    *[Call.of(name, P) for name in ("y0", "y1", "k0", "k1")],
    *[Call.of(name, 2, X) for name in ("jv", "iv", "ive")],
    *[Call.of(name, [0.0, 0.4, 2.7], P) for name in ("jv", "yv", "iv", "ive", "kv", "kve")],
    *[Call.of(name, V, P) for name in ("jv", "yv", "iv", "ive", "kv", "kve")],
    *[Call.of(name, [0.0, 0.4, 2.7], P - 0.3j) for name in ("jv", "yv", "iv", "kv", "kve")],
    *[Call.of(name, 1.4, x) for name in ("hankel1", "hankel2") for x in (P, P - 0.3j)],
]
REAL = {"jv", "yv", "iv", "kv", "kve"}  # of complex arguments above, of complex orders NaN
