"""Sample points of complex numbers and their parts."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
Z = np.array([0.6 - 1.2j, -0.9 + 0.3j, -1.4 - 0.5j])

SAMPLES = [
    *[call(name, x) for name in ("conjugate", "real", "imag", "angle") for x in (X, Z)],
    call("angle", Z, deg=True),
    call("complex", X, X[0]),
    call("complex", X),
    *calls("absolute sign exp log sqrt nan_to_num", Z),
    call("power", Z, Z[::-1].copy()),
    call("power", Z, 2),
]
