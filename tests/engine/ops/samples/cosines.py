"""Sample points of cosine transforms."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(31).normal(size=(2, 5))

SAMPLES = [
    *[Call.of(f"fft.{name}", X, kind) for name in ("dct", "idct") for kind in (1, 2, 3, 4)],
    *[Call.of("fft.dct", X, kind, None, 0, "ortho") for kind in (1, 2, 3, 4)],
    Call.of("fft.dct", X, n=3, norm="forward"),
    Call.of("fft.idct", X, 2, 7, -1, "ortho"),
    Call.of("fft.dct", X[:, :1]),
    Call.of("fft.idct", X[:0]),
]
