"""Sample points of integrals."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
ZERO = np.array([-0.7, 0.0, 0.4])

SAMPLES = [
    *[Call.of(name, X) for name in ("expi", "fresnel")],
    *[Call.of(name, P) for name in ("exp1", "spence", "sici", "shichi", "lambertw")],
    *[Call.of("expn", n, P) for n in (0, 1, 2, 3)],
    Call.of("spence", ZERO + 1),
    Call.of("lambertw", np.array([-0.2, 0.0, 0.3])),
    Call.of("lambertw", np.array([-0.3, -0.2, -0.1]), -1),
    *[Call.of("lambertw", X + 0.3j, k) for k in (1, -2)],
]
