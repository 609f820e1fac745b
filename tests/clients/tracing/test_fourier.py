"""Fourier transforms and convolutions as in NumPy and SciPy."""

from typing import Any

import numpy as np
import scipy.fft
import scipy.ndimage
import scipy.signal
from scipy.fft import dct, rfft

RNG = np.random.default_rng(6)
V = RNG.uniform(0.2, 1.0, 6)
A = RNG.uniform(0.2, 1.0, (3, 4))
K = RNG.uniform(0.2, 1.0, (2, 2))
Z = V + 1j * V[::-1]

CASES: list[Any] = [
    (
        "fft (abs)",
        lambda v: (
            np.fft.fft(v),
            abs(np.fft.fft(v)),
            np.fft.fft(v, 8),
            np.fft.fft(v, norm="ortho"),
        ),
        V,
    ),
    (
        "fft (abs)",
        lambda z: (np.fft.fft(z), scipy.fft.fft(z), scipy.fft.ifft(z, norm="forward")),
        Z,
    ),
    ("fft (abs)", lambda a: (np.fft.fft(a, axis=0), scipy.fft.fft(a, axis=0)), A),
    ("ifft (real)", lambda z: (np.fft.ifft(z), np.fft.ifft(z).real), Z),
    ("rfft (abs)", lambda v: (np.fft.rfft(v), abs(np.fft.rfft(v, 5)), rfft(v)), V),
    ("irfft", lambda z: (np.fft.irfft(z), np.fft.irfft(z, 7), scipy.fft.irfft(z)), Z),
    ("irfft", lambda v, z: (np.fft.hfft(z), np.fft.ihfft(v)), V, Z),
    (
        "fft2 / fftn",
        lambda a: (
            np.fft.fft2(a),
            np.fft.fftn(a),
            np.fft.ifft2(a),
            np.fft.ifftn(a),
            scipy.fft.fft2(a),
            scipy.fft.fftn(a),
        ),
        A,
    ),
    (
        "fft2 / fftn",
        lambda a: (
            np.fft.rfft2(a),
            np.fft.rfftn(a),
            np.fft.irfft2(np.fft.rfft2(a)),
            np.fft.irfftn(np.fft.rfftn(a)),
        ),
        A,
    ),
    (
        "fftshift",
        lambda a: (np.fft.fftshift(a), np.fft.ifftshift(a, axes=0), scipy.fft.fftshift(a)),
        A,
    ),
    ("cosine", lambda v: (dct(v), scipy.fft.idct(v), dct(v, norm="ortho")), V),
    (
        "convolution",
        lambda v: (
            scipy.signal.convolve(v, v),
            scipy.signal.fftconvolve(v, v[:3], "same"),
            scipy.signal.correlate(v, v),
        ),
        V,
    ),
    (
        "convolution",
        lambda a, k: (scipy.signal.convolve2d(a, k), scipy.signal.convolve2d(a, k, mode="valid")),
        A,
        K,
    ),
    (
        "grid sample / map_coordinates",
        lambda a, v: scipy.ndimage.map_coordinates(a, [v[:3], v[3:]], order=1),
        A,
        V,
    ),
]


def test_transforms_agree_with_numpy_and_scipy(case, check):
    _, f, *args = case
    check(f, *args)
