"""Sample points of Fourier transforms."""

from typing import Any

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(16)
X = RNG.normal(size=(2, 5, 4))
Z = X + 1j * RNG.normal(size=X.shape)

FULL, HALF = ("fft", "ifft"), ("rfft", "irfft")
LINES: list[tuple[Any, ...]] = [(), (3,), (7,), (None, 0, "ortho"), (None, 1, "forward"), (1, 1)]
PLANES: list[tuple[Any, ...]] = [(), ((3, 4),), (None, (1, 0), "ortho"), ((5, 6), (0, 1))]

REAL = (*[f"fft.rfft{tail}" for tail in ("", "2", "n")], "fft.ihfft")
SAMPLES = [
    *[call(f"fft.{name}", x, *args) for name in FULL for x in (X, Z) for args in LINES],
    *[call("fft.rfft", X, *args) for args in LINES],
    *[call("fft.irfft", Z, *args) for args in LINES],
    *[call("fft.hfft", Z, *args) for args in LINES],
    *[call("fft.ihfft", X, *args) for args in LINES],
    *[call(f"fft.{name}", X) for name in ("irfft", "hfft")],
    *[call(f"fft.{name}{t}", Z, *args) for name in FULL for t in "2n" for args in PLANES],
    *[call(f"fft.rfft{t}", X, *args) for t in "2n" for args in PLANES],
    *[call(f"fft.irfft{t}", Z, *args) for t in "2n" for args in PLANES],
    *[call(f"fft.{name}", X[:0]) for name in (*FULL, *HALF)],
]
