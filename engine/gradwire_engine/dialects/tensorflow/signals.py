"""TensorFlow's Fourier transforms, frames of signals and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.windows import OverlapAdd
from gradwire_engine.ops.axes import axis_of, flag, integer, integers, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import dtype_of

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@TF.macro("signal.rfft")
def rfft(b: Builder, input_tensor: Any, fft_length: Static = None) -> Any:
    """Spectrum of real rows in the last axis, padded or cut to ``fft_length``, a list of one."""
    return recorded("fft.rfft")(b, input_tensor, _length(fft_length))


@TF.macro("signal.irfft")
def irfft(b: Builder, input_tensor: Any, fft_length: Static = None) -> Any:
    """Real rows of length ``fft_length``, a list of one, that have this spectrum."""
    return recorded("fft.irfft")(b, input_tensor, _length(fft_length))


def _length(fft_length: Any) -> int | None:
    if fft_length is None:
        return None
    found = integers(fft_length, "fft_length")
    if len(found) != 1:
        raise BadArgument("fft_length is a list of one length")
    return found[0]


for _kind in ("fft", "ifft", "rfft", "irfft"):
    _lengths = "fft_length:s=None axes=None norm=None"
    TF.entry(f"signal.{_kind}nd", f"fft.{_kind}n", f"input_tensor {_lengths}")
    TF.entry(f"{_kind}nd", f"fft.{_kind}n", "input fft_length:s axes")


@TF.macro("signal.idct")
def idct(
    b: Builder,
    input: Any,
    type: Static = 2,
    n: Static = None,
    axis: Static = -1,
    norm: Static = None,
) -> Any:
    """Inverse of the cosine transform, without its factor: 3 for type 2, 2 for 3, else the same."""
    inverse = {2: 3, 3: 2}.get(integer(type, "type"), type)
    return recorded("fft.dct")(b, input, inverse, n, axis, norm)


@TF.macro("signal.frame")
def frame(
    b: Builder,
    signal: Any,
    frame_length: Static,
    frame_step: Static,
    pad_end: Static = False,
    pad_value: Any = 0,
    axis: Static = -1,
) -> Any:
    """Frames of ``frame_length`` every ``frame_step``: ``axis`` counts them, their own follows.

    What is left over goes, or is filled up with ``pad_value`` if ``pad_end``.
    """
    x = b.array(signal)
    place = axis_of(axis, x.ndim, "frame")
    length, step = integer(frame_length, "frame_length"), integer(frame_step, "frame_step")
    if length < 0 or step < 1:
        raise BadArgument("frame needs a length of at least 0 and a step of at least 1")
    total = x.shape[place]
    count = -(-total // step) if flag(pad_end, "pad_end") else max(0, (total - length) // step + 1)
    missing = max(0, (count - 1) * step + length - total)
    if missing:
        widths = [(0, missing if i == place else 0) for i in range(x.ndim)]
        x = recorded("pad")(b, x, widths, constant_values=pad_value)
    index = b.table((count, length), lambda i, j: i * step + j)
    return recorded("take")(b, x, index, place)


@TF.macro("signal.overlap_and_add")
def overlap_and_add(b: Builder, signal: Any, frame_step: Static) -> Any:
    """Frames in the last two axes, of which each begins ``frame_step`` later, added up."""
    x = b.array(signal)
    if x.ndim < 2:
        raise ShapeMismatch(f"overlap_and_add needs frames in the last two axes, got {x.type}")
    count, length = x.shape[-2:]
    step = integer(frame_step, "frame_step")
    if step < 1:
        raise BadArgument(f"overlap_and_add needs a step of at least 1, got {step}")
    total = max(0, (count - 1) * step + length)
    return OverlapAdd((total,), (step,), (1,))(recorded("matrix_transpose")(b, x))


@TF.macro("signal.hann_window")
def hann_window(
    b: Builder, window_length: Static, periodic: Static = True, dtype: Static = "float64"
) -> Any:
    """``z_n = 1/2 - cos(2 π n / m) / 2``; ``m`` is the length, or one less if not ``periodic``."""
    return _cosine_window(b, window_length, periodic, dtype, 0.5)


@TF.macro("signal.hamming_window")
def hamming_window(
    b: Builder, window_length: Static, periodic: Static = True, dtype: Static = "float64"
) -> Any:
    """``z_n = 0.54 - 0.46 cos(2 π n / m)``, ``m`` the length, or one less if not ``periodic``."""
    return _cosine_window(b, window_length, periodic, dtype, 0.54)


def _cosine_window(b: Builder, length: Any, periodic: Any, dtype: Any, middle: float) -> Var:
    (count,) = lengths(integer(length, "window_length"), "window_length")
    period = count - 1 + (flag(periodic, "periodic") and count % 2 == 0)

    def value(n: Any) -> Any:
        return middle - (1 - middle) * np.cos(2 * np.pi * (n / period))

    return b.table((count,), value if count > 1 else np.ones_like, dtype_of(dtype))


@TF.macro("signal.stft")
def stft(
    b: Builder,
    signals: Any,
    frame_length: Static,
    frame_step: Static,
    fft_length: Static = None,
    window_fn: Static = "hann",
    pad_end: Static = False,
) -> Any:
    """Spectra of frames, each multiplied by a Hann window, or by none if ``window_fn`` is ``None``.

    Frames are filled up with zeros to ``fft_length``, by default the next power of two.
    """
    x = b.array(signals)
    length = integer(frame_length, "frame_length")
    frames = frame(b, x, length, frame_step, pad_end)
    if window_fn not in ("hann", None):
        raise BadArgument("stft knows its own window, or None", hint="multiply frames by another")
    if window_fn is not None:
        frames = frames * hann_window(b, length, dtype=x.dtype)
    size = 1 << (length - 1).bit_length() if fft_length is None else fft_length
    return recorded("fft.rfft")(b, frames, integer(size, "fft_length"))
