"""SciPy's filters of signals, recursive or linear in their data."""

from typing import Any

import gradwire
import numpy as np
import pytest
from scipy import ndimage, signal

RNG = np.random.default_rng(9)
B, A = signal.butter(3, 0.3)
SECTIONS = signal.butter(5, 0.3, output="sos")
X = RNG.normal(size=30)
ROWS = RNG.normal(size=(2, 30))
IMAGE = RNG.normal(size=(5, 6))
SHORT = RNG.normal(size=(3, 12))


def sections(gains):
    return SECTIONS * np.array([[1.0, 1.0, 1.0, 1.0, 0.0, 0.0]]) * gains[:, None] + SECTIONS * [
        [0, 0, 0, 0, 1, 1]
    ]


def begun(gains, x):
    made = sections(gains)
    made = made / made[:, 3:4]
    return signal.sosfilt(made, x, zi=signal.sosfilt_zi(made) * x[0])


def smoothed(x):
    return (
        ndimage.gaussian_filter(x, [0.5, 1.0], mode="wrap"),
        ndimage.gaussian_filter(x, 1.0, order=[0, 1], truncate=2.0, mode="constant", cval=2.0),
        ndimage.gaussian_filter(x, 0.7, axes=(1,)) + ndimage.gaussian_filter1d(x, 1.0, 0, 2),
    )


def averaged(x):
    return (
        ndimage.uniform_filter(x, [2, 1], mode=["nearest", "mirror"], origin=[-1, 0]),
        ndimage.uniform_filter1d(x, 4, axis=0),
        ndimage.convolve1d(x, [1.0, 2.0, 3.0, 4.0], mode="nearest", origin=1),
    )


def edges(x):
    derivatives = ndimage.sobel(x), ndimage.prewitt(x, -2, mode="constant", cval=1.0)
    return (*derivatives, ndimage.laplace(x), ndimage.laplace(x, mode="wrap"))


def windowed(x, weights):
    return [
        f(x, weights, mode=mode, cval=0.5, origin=[1, 0])
        for f in (ndimage.correlate, ndimage.convolve)
        for mode in ("reflect", "mirror", "nearest", "constant", "wrap")
    ]


def ranked(x):
    filters = ndimage.median_filter, ndimage.minimum_filter, ndimage.maximum_filter
    made = [f(x, size, mode="nearest") for f in filters for size in (3, (2, 4))]
    return *made, signal.medfilt(x, [3, 5]), signal.medfilt(x[0])


CASES: list[Any] = [
    ("lfilter", signal.lfilter, B, A, X),
    ("lfilter", lambda x: signal.lfilter(B, A, x, axis=0), SHORT),
    ("lfilter", lambda b, x: signal.lfilter(b, 2.0, x), B, X),
    ("lfilter", lambda a, x: signal.lfilter([1.0], a, x), A, X),
    ("lfilter", lambda x, z: signal.lfilter(B, A, x, zi=z), ROWS, SHORT[:2, :3]),
    ("lfilter", lambda b, a, x: signal.lfilter(b, a, x, zi=signal.lfilter_zi(b, a)), B, A, X),
    *[
        ("filtfilt", lambda x, how=how, n=n: signal.filtfilt(B, A, x, padtype=how, padlen=n), X)
        for how, n in (("odd", None), ("odd", 0), ("even", 5), ("constant", 5), (None, None))
    ],
    ("filtfilt", lambda b, a, x: signal.filtfilt(b, a, x.T, axis=0), B, A, ROWS),
    ("sosfilt", begun, np.array([0.9, 1.1, 1.2]), X),
    ("sosfilt", lambda x: signal.sosfilt(SECTIONS, x, 0, np.ones((3, 2, 12))), SHORT),
    ("sosfiltfilt", lambda x: signal.sosfiltfilt(SECTIONS, x), ROWS),
    *[
        ("savgol", lambda x, how=how: signal.savgol_filter(x, 7, 2, mode=how, cval=2.0), ROWS)
        for how in ("interp", "mirror", "nearest", "constant", "wrap")
    ],
    ("savgol", lambda x: signal.savgol_filter(x, 3, 2, 1, 0.5, axis=0), SHORT),
    ("detrend", lambda x: (signal.detrend(x, bp=[10]), signal.detrend(x, 0, "constant")), ROWS),
    ("resample", lambda x: (signal.resample(x, 21, axis=1), signal.resample(x, 5)), ROWS),
    ("resample", lambda x: signal.resample_poly(x, 3, 2, axis=1, padtype="line"), ROWS),
    ("decimate", lambda x: (signal.decimate(x, 2, 3), signal.decimate(x, 3, ftype="fir")), X),
    ("gaussian", smoothed, IMAGE),
    ("uniform", averaged, IMAGE),
    ("edges", edges, IMAGE),
    ("windows", windowed, IMAGE, np.array([[0.5, 1.0], [2.0, -1.0], [0.3, 0.1]])),
    ("ranks", ranked, (RNG.permutation(30).reshape(5, 6) + 1) / 10),
    ("hilbert", lambda x: np.abs(signal.hilbert(x)), X),
]


def test_values_and_derivatives_are_scipys(case, check):
    _, f, *args = case
    check(f, *args, order=1)


def test_long_signals_are_filtered(client):
    x = RNG.normal(size=2500)
    for f in (lambda x: signal.lfilter(B, A, x), lambda x: signal.savgol_filter(x, 11, 2)):
        np.testing.assert_allclose(client.function(f)(x), f(x), atol=1e-12)


REFUSED: dict[str, Any] = {
    "method='gust'": lambda x: signal.filtfilt(B, A, x, method="gust"),
    "resample with t": lambda x: signal.resample(x, 10, t=np.arange(30.0))[0],
    "of integers": lambda x: ndimage.gaussian_filter((x * 9).astype(int), 1.0),
    "savgol_filter with recorded": lambda x: signal.savgol_filter(x, 5, 2, delta=x[0]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_others_are_refused_by_name(what, client):
    with pytest.raises(gradwire.NotTraceable, match=what):
        client.function(REFUSED[what])(X)


def test_short_signals_are_refused_as_by_scipy(client):
    with pytest.raises(ValueError, match="padlen"):
        client.function(lambda x: signal.filtfilt(B, A, x))(X[:5])
