"""Sample points of factorials and binomial coefficients."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.6], [1.7, 2.0, 5.3]])
K = np.array([0.4, 1.0, 2.3])

SAMPLES = [
    call("factorial", np.array([0.2, 0.7, 3.0])),
    *calls("poch binom", X, K),
    call("comb", X, K),
    call("comb", np.abs(X), K, repetition=True),
]
