"""Sample points of identities."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])

SAMPLES = [
    call("copy", X),
    # Of integers: differences would not see that the gradient is stopped.
    call("stop_gradient", np.array([1, 2])),
]
