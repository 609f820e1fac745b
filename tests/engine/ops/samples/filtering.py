"""Sample points of convolutions of arrays."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(16)
X = RNG.normal(size=(3, 4))
Y = RNG.normal(size=(2, 3))
MODES = ("full", "same", "valid")

SAMPLES = [
    *[
        call(name, X, Y, mode)
        for name in ("signal.convolve", "signal.correlate", "fftconvolve")
        for mode in MODES
    ],
    call("signal.convolve", Y, X, "same"),
    call("signal.convolve", X[0], Y[0], "valid", "fft"),
    call("signal.correlate", X[None, :2, :2], Y[:, None, :1]),
    call("fftconvolve", X, Y[:1], "same", 1),
    call("fftconvolve", X, X),
    *[
        call(name, X, Y, mode, boundary)
        for name in ("convolve2d", "correlate2d")
        for mode in MODES
        for boundary in ("fill", "wrap", "symm")
    ],
    call("convolve2d", X, Y, "same", "fill", 1.5),
]
