"""SciPy's convolutions and correlations of arrays with any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.padding import pad
from gradwire_engine.ops.arrays.shape import moveaxis
from gradwire_engine.ops.axes import axes_of, choice
from gradwire_engine.ops.base import FUNCTIONS, Static, macro
from gradwire_engine.ops.signals.convolution import Convolve, block, part, reversed_conj

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric", "symmetric": "symmetric"}


@macro("signal.convolve")
def signal_convolve(
    b: Builder, in1: Any, in2: Any, mode: Static = "full", method: Static = "auto"
) -> Any:
    """Convolution of arrays with as many axes: ``z_k = sum_j in1_j in2_{k-j}``.

    ``mode`` ``full`` gives all, ``same`` the middle ones, as many as ``in1`` has, and ``valid``
    those that need no zeros around.  ``method`` ``fft`` is by Fourier transforms.
    """
    x, y = _alike(b, in1, in2, mode)
    if method == "fft":
        return fftconvolve(b, x, y, mode)
    if method not in ("auto", "direct"):
        raise BadArgument("method is 'auto', 'direct' or 'fft'")
    return _kept(Convolve(x.ndim)(x, y), x, y, mode, x.ndim)


@macro("signal.correlate")
def signal_correlate(
    b: Builder, in1: Any, in2: Any, mode: Static = "full", method: Static = "auto"
) -> Any:
    """Correlation of arrays: ``z_k = sum_j in1_{j+k} in2_j*``; modes as for ``signal.convolve``."""
    x, y = _alike(b, in1, in2, mode)
    return signal_convolve(b, x, reversed_conj(y, y.ndim), mode, method)


@macro("fftconvolve", "signal.fftconvolve")
def fftconvolve(b: Builder, in1: Any, in2: Any, mode: Static = "full", axes: Static = None) -> Any:
    """Convolution over ``axes`` (all of them by default) by Fourier transforms; others broadcast.

    Faster for long arrays, exact to rounding of the largest; modes as for ``signal.convolve``.
    """
    x, y = b.promote(b.inexact(in1), b.inexact(in2))
    places = axes_of(axes, x.ndim, "fftconvolve")
    if x.ndim != y.ndim or not places:
        raise ShapeMismatch(f"fftconvolve needs as many axes in both, got {x.type} and {y.type}")
    n, last = len(places), tuple(range(-len(places), 0))
    x, y = (moveaxis(b, v, places, last) for v in (x, y))
    lengths = x.type.shape[-n:], y.type.shape[-n:]
    if not all(map(all, lengths)):
        raise ShapeMismatch(f"a convolution needs arrays that are not empty, got {lengths}")
    _check_mode(*lengths, mode)
    full = [i + j - 1 for i, j in zip(*lengths, strict=True)]
    names = ("fft.fftn", "fft.ifftn") if x.dtype.kind == "c" else ("fft.rfftn", "fft.irfftn")
    there, back = [FUNCTIONS[name].record for name in names]
    z = back(b, there(b, x, full, last) * there(b, y, full, last), full, last)
    return moveaxis(b, _kept(z, x, y, mode, n), last, places)


@macro("convolve2d", "signal.convolve2d")
def convolve2d(
    b: Builder,
    in1: Any,
    in2: Any,
    mode: Static = "full",
    boundary: Static = "fill",
    fillvalue: Any = 0,
) -> Any:
    """Convolution of matrices; around ``in1`` stand ``fillvalue`` or, elsewise, its own elements.

    ``boundary`` ``fill``, ``wrap`` from the other end, or ``symm`` mirrored at the outside; modes
    as for ``signal.convolve``.
    """
    x, y = _matrices(b, in1, in2, mode)
    return _bounded(b, x, y, mode, boundary, fillvalue, [(m - 1) // 2 for m in y.type.shape])


@macro("correlate2d", "signal.correlate2d")
def correlate2d(
    b: Builder,
    in1: Any,
    in2: Any,
    mode: Static = "full",
    boundary: Static = "fill",
    fillvalue: Any = 0,
) -> Any:
    """Correlation of matrices: ``convolve2d`` with the conjugate of ``in2`` reversed.

    Of an even number of elements of ``in2`` the later is the middle.
    """
    x, y = _matrices(b, in1, in2, mode)
    middle = [m // 2 for m in y.type.shape]
    return _bounded(b, x, reversed_conj(y, 2), mode, boundary, fillvalue, middle)


def _bounded(
    b: Builder, x: Var, y: Var, mode: Any, boundary: Any, fillvalue: Any, middle: Sequence[int]
) -> Var:
    """Convolution of ``x`` within a boundary; mode ``same`` starts at ``middle`` of the full."""
    choice(boundary, _BOUNDARIES, "boundary")
    lengths = [n + m - 1 for n, m in zip(x.type.shape, y.type.shape, strict=True)]
    if mode == "valid" or (boundary == "fill" and isinstance(fillvalue, int) and not fillvalue):
        z = Convolve(2)(x, y)
    else:
        around = [(m - 1, m - 1) for m in y.type.shape]
        filled = (fillvalue,) if boundary == "fill" else ()
        grown = pad(b, x, around, _BOUNDARIES[boundary], *filled)
        starts = [m - 1 for m in y.type.shape]
        z = block(Convolve(2)(grown, y), list(zip(starts, lengths, strict=True)))
    same = list(zip(middle, x.type.shape, strict=True))
    return part(z, x.type.shape, y.type.shape, mode, same)


def _alike(b: Builder, in1: Any, in2: Any, mode: Any) -> list[Var]:
    """Both arrays, if they have as many axes, and with ``valid`` one inside the other."""
    x, y = arrays = b.promote(in1, in2)
    if x.ndim != y.ndim or not x.ndim:
        raise ShapeMismatch(
            f"a convolution needs two arrays of as many axes, got {x.type} and {y.type}"
        )
    _check_mode(x.type.shape, y.type.shape, mode)
    return arrays


def _matrices(b: Builder, in1: Any, in2: Any, mode: Any) -> list[Var]:
    x, y = arrays = _alike(b, in1, in2, mode)
    if x.ndim != 2:
        raise ShapeMismatch(f"this convolution needs matrices, got {x.type} and {y.type}")
    return arrays


def _check_mode(x: Sequence[int], y: Sequence[int], mode: Any) -> None:
    pairs = list(zip(x, y, strict=True))
    if mode == "valid" and any(n < m for n, m in pairs) and any(n > m for n, m in pairs):
        raise ShapeMismatch(f"mode 'valid' needs one array inside the other, got {x} and {y}")


def _kept(z: Var, x: Var, y: Var, mode: Any, ndim: int) -> Var:
    first, second = x.type.shape[-ndim:], y.type.shape[-ndim:]
    middle = [((m - 1) // 2, n) for n, m in zip(first, second, strict=True)]
    return part(z, first, second, mode, middle)
