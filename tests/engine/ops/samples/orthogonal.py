"""Sample points of orthogonal polynomials, of all low degrees."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -1.0, 0.0], [0.3, 1.0, 1.6]])
DEGREES = (0, 1, 2, 5)

SAMPLES = [
    *[
        call(f"eval_{name}", n, X)
        for name in ("legendre", "chebyt", "chebyu", "laguerre", "hermite", "hermitenorm")
        for n in DEGREES
    ],
    *[call(f"eval_{name}", n, 0.7, X) for name in ("gegenbauer", "genlaguerre") for n in DEGREES],
    *[call("eval_jacobi", n, 0.5, -0.3, X) for n in DEGREES],
]
