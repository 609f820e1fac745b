"""Sample points of cosine transforms."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(31).normal(size=(2, 5))

SAMPLES = [
    *[call(f"fft.{name}", X, kind) for name in ("dct", "idct") for kind in (1, 2, 3, 4)],
    *[call("fft.dct", X, kind, None, 0, "ortho") for kind in (1, 2, 3, 4)],
    call("fft.dct", X, n=3, norm="forward"),
    call("fft.idct", X, 2, 7, -1, "ortho"),
    call("fft.dct", X[:, :1]),
    call("fft.idct", X[:0]),
]
