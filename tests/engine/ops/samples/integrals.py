"""Sample points of integrals."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
ZERO = np.array([-0.7, 0.0, 0.4])

SAMPLES = [
    *calls("expi fresnel", X),
    *calls("exp1 spence sici shichi lambertw", P),
    *[call("expn", n, P) for n in (0, 1, 2, 3)],
    call("spence", ZERO + 1),
    call("lambertw", np.array([-0.2, 0.0, 0.3])),
    call("lambertw", np.array([-0.3, -0.2, -0.1]), -1),
    *[call("lambertw", X + 0.3j, k) for k in (1, -2)],
]
