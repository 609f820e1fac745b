"""Sample points of robust penalties, on both sides of the scale."""

import numpy as np
from gradwire_engine.check import Call

R = np.array([[-1.3, -0.4, 0.0], [0.3, 1.1, 2.3]])
DELTA = np.array([0.5, 0.7, 3.0])

SAMPLES = [Call.of(name, DELTA, R) for name in ("huber", "pseudo_huber")]
REAL = {"huber", "pseudo_huber"}
