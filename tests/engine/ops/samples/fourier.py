"""Sample points of Fourier transforms."""

from typing import Any

import numpy as np
from gradwire_engine.check import Call

RNG = np.random.default_rng(16)
X = RNG.normal(size=(2, 5, 4))
Z = X + 1j * RNG.normal(size=X.shape)

FULL, HALF = ("fft", "ifft"), ("rfft", "irfft")
LINES: list[tuple[Any, ...]] = [(), (3,), (7,), (None, 0, "ortho"), (None, 1, "forward"), (1, 1)]
PLANES: list[tuple[Any, ...]] = [(), ((3, 4),), (None, (1, 0), "ortho"), ((5, 6), (0, 1))]

REAL = (*[f"fft.rfft{tail}" for tail in ("", "2", "n")], "fft.ihfft")
SAMPLES = [
    *[Call.of(f"fft.{name}", x, *args) for name in FULL for x in (X, Z) for args in LINES],
    *[Call.of("fft.rfft", X, *args) for args in LINES],
    *[Call.of("fft.irfft", Z, *args) for args in LINES],
    *[Call.of("fft.hfft", Z, *args) for args in LINES],
    *[Call.of("fft.ihfft", X, *args) for args in LINES],
    *[Call.of(f"fft.{name}", X) for name in ("irfft", "hfft")],
    *[Call.of(f"fft.{name}{t}", Z, *args) for name in FULL for t in "2n" for args in PLANES],
    *[Call.of(f"fft.rfft{t}", X, *args) for t in "2n" for args in PLANES],
    *[Call.of(f"fft.irfft{t}", Z, *args) for t in "2n" for args in PLANES],
    *[Call.of(f"fft.{name}", X[:0]) for name in (*FULL, *HALF)],
]
