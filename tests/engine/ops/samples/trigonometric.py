"""Sample points of trigonometric and hyperbolic functions."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
UNIT = np.array([-0.7, -0.2, 0.1, 0.4, 0.8])
ROW = np.array([0.6, -0.9, 1.4])

SAMPLES = [
    *[Call.of(name, X) for name in ("sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh")],
    *[Call.of(name, UNIT) for name in ("arcsin", "arccos", "arctanh")],
    Call.of("arcsinh", X),
    Call.of("arccosh", np.array([1.2, 2.0, 3.7])),
    Call.of("arctan2", X, ROW),
    Call.of("arctan2", 1.5, ROW),
    Call.of("hypot", X, ROW),
    Call.of("deg2rad", X),
    Call.of("rad2deg", X),
    Call.of("sinc", X),
    Call.of("sinc", np.zeros(2)),
    *[Call.of("spherical_jn", n, X) for n in (0, 1, 3)],
]
