"""Discrete Fourier transforms over axes, of complex and of real numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import Pad, sliced
from gradwire_engine.ops.axes import axes_of, integer, integers
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.pointwise.complex import complex_of
from gradwire_engine.ops.promotion import DTYPES, real_of
from gradwire_engine.ops.signals.waves import Fourier, InverseRealFourier, RealFourier

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _resized(x: Var, axis: int, n: int) -> Var:
    """``x`` cut or filled with zeros to length ``n`` along ``axis``."""
    if n < 1:
        raise BadArgument(f"a Fourier transform needs a length of at least 1, got {n}")
    length = x.type.shape[axis]
    if n <= length:
        return sliced(x, axis, 0, n)
    after = tuple([n - length if i == axis else 0 for i in range(x.ndim)])
    return Pad((0,) * x.ndim, after)(x)


def _normalized(z: Var, count: int, norm: Any, *, inverse: bool) -> Var:
    if norm not in (None, "backward", "ortho", "forward"):
        raise BadArgument("norm is 'backward', 'ortho' or 'forward'")
    if norm == "ortho":
        return z / math.sqrt(count)
    return z / count if (norm == "forward") != inverse else z


def _places(x: Var, s: Any, axes: Any, op: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes to transform and their lengths."""
    lengths = None if s is None else integers(s, "s")
    if axes is None and lengths is not None:
        axes = tuple(range(-len(lengths), 0))
    places = axes_of(axes, x.ndim, op)
    if lengths is None:
        lengths = tuple([x.type.shape[place] for place in places])
    if len(lengths) != len(places):
        raise ShapeMismatch(f"{op} got {len(lengths)} lengths for {len(places)} axes")
    return places, lengths


def _complex(b: Builder, a: Any) -> Var:
    x = floating(b, a)
    return b.cast(x, complex_of(real_of(x.dtype)) if x.dtype.kind != "c" else x.dtype)


def _transform(
    b: Builder, a: Any, s: Any, axes: Any, norm: Any, op: str, *, inverse: bool = False
) -> Var:
    x = _complex(b, a)
    places, lengths = _places(x, s, axes, op)
    for place, n in zip(places, lengths, strict=True):
        x = _resized(x, place, n)
    z = Fourier(places, inverse)(x) if places else x
    return _normalized(z, math.prod(lengths), norm, inverse=inverse)


def _real_transform(b: Builder, a: Any, s: Any, axes: Any, norm: Any, op: str) -> Var:
    x = floating(b, a)
    if x.dtype.kind == "c":
        raise DtypeMismatch(f"{op} needs real numbers, got {x.type}", hint="fft.fft takes complex")
    x = b.cast(x, DTYPES["float32"]) if x.dtype.itemsize == 2 else x
    places, lengths = _places(x, s, axes, op)
    if not places:
        raise BadArgument(f"{op} needs at least 1 axis")
    for place, n in zip(places, lengths, strict=True):
        x = _resized(x, place, n)
    z = RealFourier(places[-1])(x)
    z = Fourier(places[:-1], inverse=False)(z) if places[1:] else z
    return _normalized(z, math.prod(lengths), norm, inverse=False)


def _inverse_real(b: Builder, a: Any, s: Any, axes: Any, norm: Any, op: str) -> Var:
    x = _complex(b, a)
    places, lengths = _places(x, s, axes, op)
    if not places:
        raise BadArgument(f"{op} needs at least 1 axis")
    n = lengths[-1] if s is not None else 2 * (lengths[-1] - 1)
    lengths = (*lengths[:-1], n)
    if n < 1:
        raise BadArgument(f"a Fourier transform needs a length of at least 1, got {n}")
    for place, length in zip(places, (*lengths[:-1], n // 2 + 1), strict=True):
        x = _resized(x, place, length)
    z = Fourier(places[:-1], inverse=True)(x) if places[1:] else x
    z = InverseRealFourier(places[-1], n)(z)
    return _normalized(z, math.prod(lengths), norm, inverse=True)


def _one(n: Any) -> tuple[int, ...] | None:
    return None if n is None else (integer(n, "n"),)


@macro("fft.fft")
def fft(b: Builder, a: Any, n: Static = None, axis: Static = -1, norm: Static = None) -> Any:
    """Fourier transform along ``axis``: ``z_k = sum_t x_t exp(-2πi kt / n)``.

    ``n`` cuts the axis or fills it with zeros.  ``norm`` ``ortho`` divides by ``sqrt n``,
    ``forward`` by ``n``.  Source: DLMF 3.11.34.
    """
    return _transform(b, a, _one(n), (axis,), norm, "fft")


@macro("fft.ifft")
def ifft(b: Builder, a: Any, n: Static = None, axis: Static = -1, norm: Static = None) -> Any:
    """Inverse Fourier transform along ``axis``: ``z_t = sum_k x_k exp(2πi kt / n) / n``.

    ``n`` cuts the axis or fills it with zeros.  ``norm`` ``ortho`` divides by ``sqrt n``,
    ``forward`` by nothing.
    """
    return _transform(b, a, _one(n), (axis,), norm, "ifft", inverse=True)


@macro("fft.fft2")
def fft2(b: Builder, a: Any, s: Static = None, axes: Static = (-2, -1), norm: Static = None) -> Any:
    """Fourier transform over two axes; lengths ``s`` and ``norm`` as for ``fft.fft``."""
    return _transform(b, a, s, axes, norm, "fft2")


@macro("fft.ifft2")
def ifft2(
    b: Builder, a: Any, s: Static = None, axes: Static = (-2, -1), norm: Static = None
) -> Any:
    """Inverse Fourier transform over two axes; ``s`` and ``norm`` as for ``fft.ifft``."""
    return _transform(b, a, s, axes, norm, "ifft2", inverse=True)


@macro("fft.fftn")
def fftn(b: Builder, a: Any, s: Static = None, axes: Static = None, norm: Static = None) -> Any:
    """Fourier transform over ``axes`` (all by default); ``s`` and ``norm`` as for ``fft.fft``."""
    return _transform(b, a, s, axes, norm, "fftn")


@macro("fft.ifftn")
def ifftn(b: Builder, a: Any, s: Static = None, axes: Static = None, norm: Static = None) -> Any:
    """Inverse Fourier transform over ``axes``; ``s`` and ``norm`` as for ``fft.ifft``."""
    return _transform(b, a, s, axes, norm, "ifftn", inverse=True)


@macro("fft.rfft")
def rfft(b: Builder, a: Any, n: Static = None, axis: Static = -1, norm: Static = None) -> Any:
    """Fourier transform of real numbers along ``axis``: the frequencies from 0 to ``n // 2``."""
    return _real_transform(b, a, _one(n), (axis,), norm, "rfft")


@macro("fft.irfft")
def irfft(b: Builder, a: Any, n: Static = None, axis: Static = -1, norm: Static = None) -> Any:
    """Inverse of ``fft.rfft``: ``n`` real numbers, by default ``2 (m - 1)`` of ``m``.

    Convention: imaginary parts at frequency 0, and at ``n / 2``, count for nothing.
    """
    return _inverse_real(b, a, _one(n), (axis,), norm, "irfft")


@macro("fft.rfft2")
def rfft2(
    b: Builder, a: Any, s: Static = None, axes: Static = (-2, -1), norm: Static = None
) -> Any:
    """Fourier transform of real numbers over two axes, the last as by ``fft.rfft``."""
    return _real_transform(b, a, s, axes, norm, "rfft2")


@macro("fft.irfft2")
def irfft2(
    b: Builder, a: Any, s: Static = None, axes: Static = (-2, -1), norm: Static = None
) -> Any:
    """Inverse of ``fft.rfft2``, the last axis as by ``fft.irfft``."""
    return _inverse_real(b, a, s, axes, norm, "irfft2")


@macro("fft.rfftn")
def rfftn(b: Builder, a: Any, s: Static = None, axes: Static = None, norm: Static = None) -> Any:
    """Fourier transform of real numbers over ``axes``, the last as by ``fft.rfft``."""
    return _real_transform(b, a, s, axes, norm, "rfftn")


@macro("fft.irfftn")
def irfftn(b: Builder, a: Any, s: Static = None, axes: Static = None, norm: Static = None) -> Any:
    """Inverse of ``fft.rfftn``, the last axis as by ``fft.irfft``."""
    return _inverse_real(b, a, s, axes, norm, "irfftn")


def _opposite(norm: Any) -> Any:
    """The normalisation that the opposite direction calls by this name."""
    if norm in (None, "backward"):
        return "forward"
    return "backward" if norm == "forward" else norm


@macro("fft.hfft")
def hfft(b: Builder, a: Any, n: Static = None, axis: Static = -1, norm: Static = None) -> Any:
    """Real Fourier transform of ``n`` samples, given by the first half of them: ``x_-t = x_t*``.

    ``n`` is ``2 (m - 1)`` by default for ``m`` samples; ``norm`` as for ``fft.fft``.
    """
    return _inverse_real(b, conj(_complex(b, a)), _one(n), (axis,), _opposite(norm), "hfft")


@macro("fft.ihfft")
def ihfft(b: Builder, a: Any, n: Static = None, axis: Static = -1, norm: Static = None) -> Any:
    """Inverse of ``fft.hfft``: the first half of the samples whose transform is real."""
    return conj(_real_transform(b, a, _one(n), (axis,), _opposite(norm), "ihfft"))
