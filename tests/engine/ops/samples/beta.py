"""Sample points of the beta function."""

import numpy as np

from tests.engine.ops.calls import calls

A = np.array([[0.7, 1.4, 5.3]])
B = np.array([[0.9], [2.6]])

SAMPLES = calls("beta betaln", A, B)
