"""Sample points of convolutions of vectors."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(15).normal(size=6)

SAMPLES = [
    Call.of(name, X[:n], X[-m:], mode)
    for name in ("convolve", "correlate")
    for n, m in ((4, 3), (2, 5), (3, 4), (1, 1), (4, 4))
    for mode in ("full", "same", "valid")
]
