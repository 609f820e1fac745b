"""Sample points of exponentials and logarithms."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.2], [0.7, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])
ROW = np.array([0.6, -0.9, 1.4])

SAMPLES = [
    *calls("exp expm1 exp2 cbrt", X),
    *calls("log log1p log2 log10 rsqrt", P),
    call("log1p", X / 2),
    *calls("logaddexp logaddexp2", X, ROW),
    call("logaddexp", X, 0.5),
    call("xlogy", X, P),
    call("xlogy", 2.0, P),
]
