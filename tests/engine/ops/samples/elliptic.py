"""Sample points of elliptic integrals, also of negative parameter and beyond a quarter turn."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([0.4, 1.3, 5.2])
Y = np.array([[0.7], [2.9]])
M = np.array([[-2.3, 0.0, 0.3], [0.5, 0.7, 0.9]])
PHI = np.array([-0.8, 0.0, 1.2])

SAMPLES = [
    *calls("elliprf elliprd elliprg", X, Y, X[::-1] + 0.2),
    call("elliprj", X, Y, X[::-1] + 0.2, np.array(1.1)),
    call("elliprf", 0, X, X[::-1]),
    call("elliprc", X, Y),
    *calls("ellipk ellipe", M),
    call("ellipkm1", X),
    *[call(name, PHI + shift, M) for name in ("ellipkinc", "ellipeinc") for shift in (0, 2, -7)],
    call("agm", X, Y),
    call("ellipk", np.empty((2, 0))),
]
