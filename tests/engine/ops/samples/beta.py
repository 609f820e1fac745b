"""Sample points of the beta function."""

import numpy as np
from gradwire_engine.check import Call

A = np.array([[0.7, 1.4, 5.3]])
B = np.array([[0.9], [2.6]])

SAMPLES = [Call.of(name, A, B) for name in ("beta", "betaln")]
