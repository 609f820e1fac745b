"""Sample points of the normal distribution's functions."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
UNIT = np.array([0.1, 0.4, 0.8])

SAMPLES = [
    call("ndtr", X),
    call("ndtri", UNIT),
    call("log_ndtr", X * 3),
    call("owens_t", X, UNIT * 2),
]
