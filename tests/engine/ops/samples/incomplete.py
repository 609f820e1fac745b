"""Sample points of incomplete functions, on both sides of the mean."""

import numpy as np

from tests.engine.ops.calls import calls

A = np.array([0.6, 1.4, 5.3])
B = np.array([[0.9], [2.6]])
X = np.array([[0.3, 1.9, 4.2], [1.1, 0.4, 7.8]])
UNIT = np.array([[0.2, 0.5, 0.8], [0.4, 0.3, 0.9]])

SAMPLES = [
    *calls("gammainc gammaincc", A, X),
    *calls("betainc betaincc", A, B, UNIT),
]
