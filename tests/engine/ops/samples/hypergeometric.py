"""Sample points of hypergeometric functions, with parameters as inputs and as literals."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2], [0.3, 0.6, 0.8]])
A = np.array([0.4, 1.3, -2.7])
B = np.array([1.7, 0.9, 3.0])

SAMPLES = [
    call("hyp0f1", B, X),
    call("hyp0f1", 1.5, X),
    call("hyp1f1", A, B, X),
    call("hyp1f1", [0.4, 1.3, -2.7], 1.7, X * 5),
    call("hyp1f1", np.array([0.0, -2.0, 1.0]), B, X),
    call("hyp2f1", A, B, B[::-1] + 0.2, X),
    call("hyp2f1", [0.4, 1.3, -0.7], 0.9, [2.3, 1.2, 3.1], X),
    call("hyp2f1", np.array(-1.0), np.array(0.0), np.array(2.0), np.array(0.5)),
    call("hyperu", [0.4, 1.3, 2.7], 1.7, X + 1.5),
    call("hyp0f1", 1.5, X + 0.3j),
    call("hyp1f1", [0.4, 1.3, -2.7], 1.7, X - 0.7j),
    call("hyp2f1", [0.4, 1.3, -0.7], 0.9, [2.3, 1.2, 3.1], X + 0.2j),
]
REAL = {"hyp0f1", "hyp1f1", "hyp2f1"}  # of complex arguments above, of complex parameters NaN
