"""PyTorch's windows, and Fourier transforms of short frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, integer
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


def _points(b: Builder, name: str, length: Any, periodic: Any, *shape: Any) -> Any:
    """A window of ``length`` points, by default the first of a period."""
    count = integer(length, "window_length")
    more = int(flag(periodic, "periodic") and count > 1)
    points = recorded(name)(b, count + more, *shape)
    return recorded("split")(b, points, [count])[0]


def _window(name: str) -> Callable[..., Any]:
    def window(
        b: Builder, window_length: Static, periodic: Static = True, *, dtype: Static = "float64"
    ) -> Any:
        """The window of this name, of which the next period would begin after the last point."""
        return recorded("astype")(b, _points(b, name, window_length, periodic), dtype)

    return window


for _theirs, _ours in (("hann", "hanning"), ("blackman", "blackman"), ("bartlett", "bartlett")):
    TORCH.macro(f"{_theirs}_window")(_window(_ours))


@TORCH.macro("hamming_window")
def hamming_window(
    b: Builder,
    window_length: Static,
    periodic: Static = True,
    alpha: Any = 0.54,
    beta: Any = 0.46,
    *,
    dtype: Static = "float64",
) -> Any:
    """``z_k = alpha - beta cos(2 pi k / n)`` for ``n`` points to a period."""
    # Hann's window is (1 - cos) / 2, and 1 where it has one point.
    cosines = recorded("subtract")(b, 1, 2 * _points(b, "hanning", window_length, periodic))
    z = recorded("subtract")(b, alpha, recorded("multiply")(b, beta, cosines))
    if window_length == 1:
        z = recorded("ones_like")(b, z)
    return recorded("astype")(b, z, dtype)


@TORCH.macro("kaiser_window")
def kaiser_window(
    b: Builder,
    window_length: Static,
    periodic: Static = True,
    beta: Any = 12.0,
    *,
    dtype: Static = "float64",
) -> Any:
    """Kaiser's window of sharpness ``beta``, of ``n`` points to a period."""
    points = _points(b, "kaiser", window_length, periodic, beta)
    return recorded("astype")(b, points, dtype)


def _frame(
    b: Builder, n_fft: Any, hop_length: Any, win_length: Any, window: Any
) -> tuple[int, int, Any]:
    """Length of a frame, steps to the next one, and its weights: the window with zeros around."""
    size = integer(n_fft, "n_fft")
    hop = integer(size // 4 if hop_length is None else hop_length, "hop_length")
    inner = integer(size if win_length is None else win_length, "win_length")
    if not 0 < inner <= size or hop < 1:
        raise BadArgument(f"frames of {size} cannot have windows of {inner} at every {hop}")
    points = b.array(recorded("ones")(b, (inner,)) if window is None else window)
    if points.type.shape != (inner,):
        raise ShapeMismatch(f"the window needs shape ({inner},), got {points.type}")
    before = (size - inner) // 2
    return size, hop, recorded("pad")(b, points, (before, size - inner - before))


@TORCH.macro("stft")
def stft(
    b: Builder,
    input: Any,
    n_fft: Static,
    hop_length: Static = None,
    win_length: Static = None,
    window: Any = None,
    center: Static = True,
    pad_mode: Static = "reflect",
    normalized: Static = False,
    onesided: Static = None,
    return_complex: Static = None,
) -> Any:
    """Spectra of the windowed frames of a signal, along the axis before the one of frames.

    ``return_complex=False`` gives real and imaginary parts along a last axis.
    """
    x = b.array(input)
    size, hop, points = _frame(b, n_fft, hop_length, win_length, window)
    if x.ndim not in (1, 2):
        raise ShapeMismatch(f"stft takes a signal or a stack of them, got {x.type}")
    if flag(center, "center"):
        sides = [*[(0, 0)] * (x.ndim - 1), (size // 2, size // 2)]
        x = recorded("pad")(b, x, sides, "edge" if pad_mode == "replicate" else pad_mode)
    frames = recorded("sliding_window_view")(b, x, size, -1)
    starts = range(0, frames.type.shape[-2], hop)
    frames = recorded("take")(b, frames, starts, -2)
    windowed = recorded("multiply")(b, frames, points)
    half = windowed.dtype.kind != "c" and onesided in (None, True)
    norm = "ortho" if flag(normalized, "normalized") else None
    z = recorded("fft.rfft" if half else "fft.fft")(b, windowed, None, -1, norm)
    z = recorded("swapaxes")(b, z, -1, -2)
    if return_complex is None and x.dtype.kind != "c":
        raise BadArgument("stft of a real signal needs return_complex")
    if return_complex in (None, True):
        return z
    return recorded("stack")(b, [recorded(part)(b, z) for part in ("real", "imag")], -1)


@TORCH.macro("istft")
def istft(
    b: Builder,
    input: Any,
    n_fft: Static,
    hop_length: Static = None,
    win_length: Static = None,
    window: Any = None,
    center: Static = True,
    normalized: Static = False,
    onesided: Static = None,
    length: Static = None,
    return_complex: Static = False,
) -> Any:
    """The signal of which ``stft`` gives these spectra, in the sense of least squares.

    It is real, of all spectra the half that stft keeps, unless ``return_complex``.
    Source: Griffin and Lim, Signal Estimation from Modified Short-Time Fourier Transform (1984).
    """
    z = b.array(input)
    size, hop, points = _frame(b, n_fft, hop_length, win_length, window)
    if z.dtype.kind != "c" or z.ndim not in (2, 3):
        raise ShapeMismatch(f"istft takes complex (frequencies, frames), got {z.type}")
    norm = "ortho" if flag(normalized, "normalized") else None
    columns = recorded("swapaxes")(b, z, -1, -2)
    half = z.shape[-2] != size if onesided is None else flag(onesided, "onesided")
    if flag(return_complex, "return_complex"):
        if half:
            raise BadArgument("a complex signal needs all frequencies", hint="onesided=False")
        frames = recorded("fft.ifft")(b, columns, size, -1, norm)
    else:
        columns = recorded("split")(b, columns, [size // 2 + 1], -1)[0]
        frames = recorded("fft.irfft")(b, columns, size, -1, norm)
    windowed = recorded("multiply")(b, frames, points)
    weights = recorded("square")(b, points)
    count = z.type.shape[-1]
    weighed = [
        _overlapped(b, part, size, hop) for part in (windowed, b.broadcast(weights, (count, size)))
    ]
    edge = size // 2 if flag(center, "center") else 0
    total = size + hop * (count - 1)
    stop = total - edge if length is None else min(edge + integer(length, "length"), total)
    signal, weight = (recorded("split")(b, x, [edge, stop], -1)[1] for x in weighed)
    signal = recorded("divide")(b, signal, weight)
    missing = 0 if length is None else length - (stop - edge)
    sides = [*[(0, 0)] * (signal.ndim - 1), (0, missing)]
    return recorded("pad")(b, signal, sides) if missing > 0 else signal


def _overlapped(b: Builder, frames: Any, size: int, hop: int) -> Any:
    """Frames added up where they lie in the signal."""
    count = frames.type.shape[-2]
    total = size + hop * (count - 1)
    columns = recorded("swapaxes")(b, frames, -1, -2)
    return recorded("squeeze")(b, recorded("fold")(b, columns, (total,), (size,), hop), -2)
