"""Sample points of factorials and binomial coefficients."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.6], [1.7, 2.0, 5.3]])
K = np.array([0.4, 1.0, 2.3])

SAMPLES = [
    Call.of("factorial", np.array([0.2, 0.7, 3.0])),
    *[Call.of(name, X, K) for name in ("poch", "binom")],
    Call.of("comb", X, K),
    Call.of("comb", np.abs(X), K, repetition=True),
]
