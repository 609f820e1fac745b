"""Sample points of complex numbers and their parts."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
Z = np.array([0.6 - 1.2j, -0.9 + 0.3j, -1.4 - 0.5j])

SAMPLES = [
    *[Call.of(name, x) for name in ("conjugate", "real", "imag", "angle") for x in (X, Z)],
    Call.of("angle", Z, deg=True),
    Call.of("complex", X, X[0]),
    Call.of("complex", X),
    *[Call.of(name, Z) for name in ("absolute", "sign", "exp", "log", "sqrt", "nan_to_num")],
    Call.of("power", Z, Z[::-1].copy()),
    Call.of("power", Z, 2),
]
