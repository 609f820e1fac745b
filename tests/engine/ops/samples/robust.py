"""Sample points of robust penalties, on both sides of the scale."""

import numpy as np

from tests.engine.ops.calls import calls

R = np.array([[-1.3, -0.4, 0.0], [0.3, 1.1, 2.3]])
DELTA = np.array([0.5, 0.7, 3.0])

SAMPLES = calls("huber pseudo_huber", DELTA, R)
REAL = {"huber", "pseudo_huber"}
