"""Sample points of incomplete functions, on both sides of the mean."""

import numpy as np
from gradwire_engine.check import Call

A = np.array([0.6, 1.4, 5.3])
B = np.array([[0.9], [2.6]])
X = np.array([[0.3, 1.9, 4.2], [1.1, 0.4, 7.8]])
UNIT = np.array([[0.2, 0.5, 0.8], [0.4, 0.3, 0.9]])

SAMPLES = [
    *[Call.of(name, A, X) for name in ("gammainc", "gammaincc")],
    *[Call.of(name, A, B, UNIT) for name in ("betainc", "betaincc")],
]
