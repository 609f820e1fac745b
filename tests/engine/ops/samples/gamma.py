"""Sample points of the gamma function's relatives."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.6], [1.7, 2.2, 7.3]])
P = np.array([[0.8, 1.2, 3.4], [1.7, 2.5, 9.1]])

SAMPLES = [
    *calls("gammaln gamma digamma lgamma psi", X),
    *[call("rgamma", x) for x in (X, np.array([-2.0, -1.0, 0.0, 0.5, 1.0]))],
    call("loggamma", P),
    *[call("polygamma", n, P) for n in (0, 1, 2, 3)],
    *[call("multigammaln", P + d / 2, d) for d in (1, 2, 4)],
    call("gammasgn", X),
]
