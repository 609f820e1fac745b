"""Sample points of special functions."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
UNIT = np.array([0.1, 0.4, 0.8])

SAMPLES = [
    *calls("erf erfc erfcx erfi dawsn wofz", X),
    *calls("erfinv erfcinv logit", UNIT),
    call("xlog1py", X, P),
    call("voigt_profile", X, P, UNIT),
    call("voigt_profile", np.array(0.4), np.array(0.7), np.array(0.0)),
]
