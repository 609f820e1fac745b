"""Sample points of trigonometric and hyperbolic functions."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
UNIT = np.array([-0.7, -0.2, 0.1, 0.4, 0.8])
ROW = np.array([0.6, -0.9, 1.4])

SAMPLES = [
    *calls("sin cos tan arctan sinh cosh tanh", X),
    *calls("arcsin arccos arctanh", UNIT),
    call("arcsinh", X),
    call("arccosh", np.array([1.2, 2.0, 3.7])),
    call("arctan2", X, ROW),
    call("arctan2", 1.5, ROW),
    call("hypot", X, ROW),
    call("deg2rad", X),
    call("rad2deg", X),
    call("sinc", X),
    call("sinc", np.zeros(2)),
    *[call("spherical_jn", n, X) for n in (0, 1, 3)],
]
