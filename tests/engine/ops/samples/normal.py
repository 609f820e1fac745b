"""Sample points of the normal distribution's functions."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
UNIT = np.array([0.1, 0.4, 0.8])

SAMPLES = [
    Call.of("ndtr", X),
    Call.of("ndtri", UNIT),
    Call.of("log_ndtr", X * 3),
    Call.of("owens_t", X, UNIT * 2),
]
