"""Sample points of elliptic integrals, also of negative parameter and beyond a quarter turn."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([0.4, 1.3, 5.2])
Y = np.array([[0.7], [2.9]])
M = np.array([[-2.3, 0.0, 0.3], [0.5, 0.7, 0.9]])
PHI = np.array([-0.8, 0.0, 1.2])

SAMPLES = [
    *[Call.of(name, X, Y, X[::-1] + 0.2) for name in ("elliprf", "elliprd", "elliprg")],
    Call.of("elliprj", X, Y, X[::-1] + 0.2, np.array(1.1)),
    Call.of("elliprf", 0, X, X[::-1]),
    Call.of("elliprc", X, Y),
    *[Call.of(name, M) for name in ("ellipk", "ellipe")],
    Call.of("ellipkm1", X),
    *[Call.of(name, PHI + shift, M) for name in ("ellipkinc", "ellipeinc") for shift in (0, 2, -7)],
    Call.of("agm", X, Y),
    Call.of("ellipk", np.empty((2, 0))),
]
