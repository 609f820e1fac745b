"""Sample points of the zeta function."""

import numpy as np

from tests.engine.ops.calls import call

Q = np.array([[0.8, 1.2, 3.4], [1.7, 2.5, 9.1]])

SAMPLES = [
    call("zeta", np.array([1.4, 2.0, 3.7]), Q),
    call("zeta", np.array(2.5), Q),
    call("zeta", np.array([1.3, 5.0, 30.0])),
]
