"""Sample points of convolutions of arrays."""

import numpy as np
from gradwire_engine.check import Call

RNG = np.random.default_rng(16)
X = RNG.normal(size=(3, 4))
Y = RNG.normal(size=(2, 3))
MODES = ("full", "same", "valid")

SAMPLES = [
    *[
        Call.of(name, X, Y, mode)
        for name in ("signal.convolve", "signal.correlate", "fftconvolve")
        for mode in MODES
    ],
    Call.of("signal.convolve", Y, X, "same"),
    Call.of("signal.convolve", X[0], Y[0], "valid", "fft"),
    Call.of("signal.correlate", X[None, :2, :2], Y[:, None, :1]),
    Call.of("fftconvolve", X, Y[:1], "same", 1),
    Call.of("fftconvolve", X, X),
    *[
        Call.of(name, X, Y, mode, boundary)
        for name in ("convolve2d", "correlate2d")
        for mode in MODES
        for boundary in ("fill", "wrap", "symm")
    ],
    Call.of("convolve2d", X, Y, "same", "fill", 1.5),
]
