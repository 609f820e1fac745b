"""Sample points of hypergeometric functions."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.3, 0.6, 0.8]])

SAMPLES = [
    Call.of("hyp1f1", [0.4, 1.3, -2.7], 1.7, X),
    Call.of("hyp2f1", [0.4, 1.3, -0.7], 0.9, [2.3, 1.2, 3.1], X),
]
