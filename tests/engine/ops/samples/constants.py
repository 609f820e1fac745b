"""Sample points of identities."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])

SAMPLES = [
    Call.of("copy", X),
    # Of integers: differences would not see that the gradient is stopped.
    Call.of("stop_gradient", np.array([1, 2])),
]
