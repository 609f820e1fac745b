"""Sample points of the gamma function's relatives."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.6], [1.7, 2.2, 7.3]])
P = np.array([[0.8, 1.2, 3.4], [1.7, 2.5, 9.1]])

SAMPLES = [
    *[Call.of(name, X) for name in ("gammaln", "gamma", "digamma", "lgamma", "psi")],
    *[Call.of("rgamma", x) for x in (X, np.array([-2.0, -1.0, 0.0, 0.5, 1.0]))],
    Call.of("loggamma", P),
    *[Call.of("polygamma", n, P) for n in (0, 1, 2, 3)],
    *[Call.of("multigammaln", P + d / 2, d) for d in (1, 2, 4)],
    Call.of("gammasgn", X),
]
