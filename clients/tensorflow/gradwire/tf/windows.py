"""``tf.signal``: windows, which are numbers made here, and transforms of frames."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.arrays import pad
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype
from gradwire.tf.joining import concat
from gradwire.tf.operations import signal
from gradwire.tf.operations.types import DTypeLike, Ints, TensorLike
from gradwire.tf.operators import multiply
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant

__all__ = [
    "hamming_window", "hann_window", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn",
    "kaiser_bessel_derived_window", "kaiser_window", "linear_to_mel_weight_matrix", "mdct",
    "mfccs_from_log_mel_spectrograms", "stft", "vorbis_window",
]  # fmt: skip

#: Makes a window of a length.
Window = Callable[..., Any]


def _raised_cosine(
    window_length: Ints,
    periodic: bool = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Callable[..., Tensor]:
    length = static.integer(window_length)
    # An even length that is periodic is that of a window one longer, without its end.
    whole = length + int(bool(periodic) and length % 2 == 0) - 1
    places = 2 * math.pi * np.arange(length) / max(whole, 1)
    return lambda a, b: _made(np.ones(1) if length == 1 else a - b * np.cos(places), dtype)


@variant(_raised_cosine, 0.5, 0.5)
def hann_window() -> Tensor:
    """A raised cosine, from 0 to 1 and back."""


@variant(_raised_cosine, 0.54, 0.46)
def hamming_window() -> Tensor:
    """A raised cosine, from 0.08 to 1 and back."""


def kaiser_window(
    window_length: Ints,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Kaiser's window, by the Bessel function I₀."""
    return _made(np.kaiser(static.integer(window_length), float(static.array(beta))), dtype)


def kaiser_bessel_derived_window(
    window_length: Ints,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The window of running sums of Kaiser's, for MDCT."""
    half = static.integer(window_length) // 2
    sums = np.cumsum(np.kaiser(half + 1, float(static.array(beta))))
    rising = np.sqrt(sums[:-1] / sums[-1])
    return _made(np.concatenate([rising, rising[::-1]]), dtype)


def vorbis_window(
    window_length: Ints, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Vorbis' window, ``sin(π/2 sin²(π (n + 1/2) / N))``."""
    length = static.integer(window_length)
    inner = np.sin(math.pi / length * (np.arange(length) + 0.5))
    return _made(np.sin(math.pi / 2 * inner**2), dtype)


def _made(array: Any, dtype: Any) -> Tensor:
    kind = as_dtype(dtype)
    return tensor_of(array.astype(kind.storage), kind)


def stft(
    signals: TensorLike,
    frame_length: Ints,
    frame_step: Ints,
    fft_length: Ints | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Fourier transforms of windows along the last axis."""
    x = convert_to_tensor(signals)
    length, step = static.integer(frame_length), static.integer(frame_step)
    size = (
        1 << max(0, length - 1).bit_length() if fft_length is None else static.integer(fft_length)
    )
    frames = signal.frame(x, length, step, pad_end=pad_end)
    if window_fn is not None:
        frames = multiply(frames, window_fn(length, dtype=x.dtype))
    return signal.rfft(frames, [size])


def inverse_stft(
    stfts: TensorLike,
    frame_length: Ints,
    frame_step: Ints,
    fft_length: Ints | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The signal of Fourier transforms of windows."""
    x = convert_to_tensor(stfts)
    length, step = static.integer(frame_length), static.integer(frame_step)
    size = (
        1 << max(0, length - 1).bit_length() if fft_length is None else static.integer(fft_length)
    )
    frames = signal.irfft(x, [size])[..., :length]
    missing = length - frames._lengths()[-1]
    if missing > 0:
        frames = pad(frames, [[0, 0]] * (len(frames._lengths()) - 1) + [[0, missing]])
    if window_fn is not None:
        frames = multiply(frames, window_fn(length, dtype=frames.dtype))
    return signal.overlap_and_add(frames, step)


def inverse_stft_window_fn(
    frame_step: Ints, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window that undoes another one, for frames that overlap."""
    step = static.integer(frame_step)

    def window(frame_length: Ints, dtype: DTypeLike = dtypes.float32) -> Tensor:
        length = static.integer(frame_length)
        forward = static.array(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // step)
        squares = np.pad(forward**2, (0, overlaps * step - length)).reshape(overlaps, step)
        total = np.tile(squares.sum(0, keepdims=True), (overlaps, 1)).reshape(-1)[:length]
        return _made(forward / total, dtype)

    return window


def mdct(
    signals: TensorLike,
    frame_length: Ints,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Modified cosine transforms of frames that overlap by half."""
    x, length = convert_to_tensor(signals), static.integer(frame_length)
    half = length // 2
    frames = signal.frame(x, length, half, pad_end=pad_end)
    window = _mdct_window(window_fn, length, x)
    frames = multiply(frames, window)
    quarter = half // 2
    a, b = frames[..., :quarter], frames[..., quarter:half]
    c, d = frames[..., half : half + quarter], frames[..., half + quarter :]
    folded = concat([-_backwards(c) - d, a - _backwards(b)], -1)
    return signal.dct(folded, type=4, norm=norm)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The signal of modified cosine transforms of frames."""
    x = convert_to_tensor(mdcts)
    half = x._lengths()[-1]
    whole = signal.idct(x, type=4, norm=norm)
    if norm is None:
        whole = multiply(whole, np.asarray(0.5 / half, x.dtype.storage))
    first, second = whole[..., : half // 2], whole[..., half // 2 :]
    frames = concat([second, -_backwards(second), -_backwards(first), -first], -1)
    frames = multiply(frames, _mdct_window(window_fn, 2 * half, x))
    return signal.overlap_and_add(frames, half)


def _mdct_window(window_fn: Window | None, length: int, x: Tensor) -> Any:
    if window_fn is not None:
        return window_fn(length, dtype=x.dtype)
    return np.full(length, math.sqrt(0.5), x.dtype.storage)


def linear_to_mel_weight_matrix(
    num_mel_bins: Ints = 20,
    num_spectrogram_bins: Ints = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: TensorLike = 125.0,
    upper_edge_hertz: TensorLike = 3800.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix from spectra to bands that are even in mels: triangles that overlap."""
    count, bins = static.integer(num_mel_bins), static.integer(num_spectrogram_bins)
    low, high = (_mel(float(static.array(edge))) for edge in (lower_edge_hertz, upper_edge_hertz))
    rates = np.linspace(0.0, float(static.array(sample_rate)) / 2, bins)[1:]
    mels = _mel(rates)[:, None]
    edges = np.linspace(low, high, count + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (mels - lower) / (center - lower), (upper - mels) / (upper - center)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return _made(np.pad(triangles, [(1, 0), (0, 0)]), dtype)


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log(1.0 + hertz / 700.0)


def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """Cepstral coefficients of logarithms of mel spectra."""
    x = convert_to_tensor(log_mel_spectrograms)
    count = x._lengths()[-1]
    return multiply(signal.dct(x, type=2), np.asarray(1 / math.sqrt(2 * count), x.dtype.storage))


def _backwards(x: Tensor) -> Tensor:
    return x[..., ::-1]  # type: ignore[no-any-return]
