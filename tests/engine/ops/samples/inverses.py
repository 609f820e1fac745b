"""Sample points of the incomplete functions' inverses."""

import numpy as np

from tests.engine.ops.calls import call, calls

A = np.array([0.6, 1.4, 5.3])
B = np.array([[0.9], [2.6]])
UNIT = np.array([[0.2, 0.5, 0.8], [0.4, 0.3, 0.9]])

SAMPLES = [
    *calls("gammaincinv gammainccinv", A, UNIT),
    *calls("betaincinv betainccinv", A, B, UNIT),
    call("gammaincinv", np.array(2.5), np.array(0.4)),
    call("betaincinv", np.empty((0, 1)), B[:0], UNIT[:0]),
]
