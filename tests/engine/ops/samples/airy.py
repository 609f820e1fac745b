"""Sample points of Airy functions; scaled, of positive numbers."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-4.3, -1.3, 0.0], [0.4, 1.7, 3.2]])
P = np.array([0.4, 1.7, 9.2])

SAMPLES = [call("airy", X), call("airye", P)]
