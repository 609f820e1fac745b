"""Resampling: images of another size, each element a weighed sum of old ones along every axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import take
from gradwire_engine.ops.arrays.shape import moveaxis
from gradwire_engine.ops.axes import flag, lengths
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import refuse_too_large
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The weight of an element as a function of its distance, in elements.
Kernel = Callable[[Any], Any]


def hat(t: Any) -> Any:
    """Linear interpolation."""
    return np.maximum(1 - t, 0)


def cubic(a: float) -> Kernel:
    """Cubic convolution with slope ``a`` at 1.  Source: Keys (1981), equation 4."""

    def kernel(t: Any) -> Any:
        near = ((a + 2) * t - (a + 3)) * t * t + 1
        far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
        return np.where(t < 1, near, np.where(t < 2, far, 0))

    return kernel


def _lanczos(radius: int) -> Kernel:
    return lambda t: np.sinc(t) * np.sinc(t / radius) * (t < radius)


def _gaussian(t: Any) -> Any:
    return np.exp(-2 * t * t) * (t < 1.5)


def _mitchell(t: Any) -> Any:
    near = (7 * t - 12) * t * t + 16 / 3
    far = ((-7 / 3 * t + 12) * t - 20) * t + 32 / 3
    return np.where(t < 1, near, np.where(t < 2, far, 0)) / 6


_KERNELS: dict[str, Kernel] = {
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), hat),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), cubic(-0.5)),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": _gaussian,
    "mitchellcubic": _mitchell,
}


def weighed(x: Var, axis: int, count: int, weights: Callable[[int], Any]) -> Var:
    """``z_i = sum_j w_ij x_j`` along ``axis``, ``w`` made for the length there by ``weights``."""
    b, length = x.builder, x.type.shape[axis]
    _check_work(x, axis, count, length)
    matrix = weights(length).astype(x.dtype)
    if axis == x.ndim - 1:
        return MatMul()(x, b.constant(matrix.T))
    columns = moveaxis(b, x, axis, -2)
    z: Var = moveaxis(b, MatMul()(b.constant(matrix), columns), -2, axis)
    return z


def kernel_weights(
    positions: Any, length: int, kernel: Kernel, width: float = 1.0, border: int = 0
) -> Any:
    """Weights of ``length`` elements at ``positions`` among them, summing to 1.

    The outermost elements stand also for ``border`` more on either side.
    """
    index = np.arange(-border, length + border)
    around = kernel(np.abs(positions[:, None] - index) / width)
    weights = around[:, border : border + length]
    if border:
        weights[:, 0] += around[:, :border].sum(1)
        weights[:, -1] += around[:, -border:].sum(1)
    return weights / weights.sum(1, keepdims=True)


def centres(count: int, scale: float) -> Any:
    """Where the middles of ``count`` elements lie, each as long as ``scale`` of the old ones."""
    return (np.arange(count) + 0.5) * scale - 0.5


def _middles(count: int) -> Any:
    """Where the middles of ``count`` elements lie, in halves of them."""
    return 2 * np.arange(count) + 1


def _area_weights(count: int, length: int) -> Any:
    """The share that each element has in each of ``count`` equal stretches."""
    ends = np.arange(count + 1)[:, None] * (length / count)
    index = np.arange(length)
    covered = np.minimum(ends[1:], index + 1) - np.maximum(ends[:-1], index)
    return covered.clip(0) * (count / length)


def chosen(x: Var, axis: int, count: int, index: Callable[[int], Any]) -> Var:
    """``z_i = x_j`` along ``axis``, the indices ``j`` made for the length there by ``index``."""
    b, length = x.builder, x.type.shape[axis]
    _check_work(x, axis, count, 1)
    return take(b, x, b.constant(index(length)), axis)


def _check_work(x: Var, axis: int, count: int, width: int) -> None:
    """Refuse to make elements of none, or of too many weights."""
    if count and not x.type.shape[axis]:
        raise ShapeMismatch(f"there is nothing to interpolate along axis {axis} of {x.type}")
    kind = ArrayType(DTYPES["float64"], (count, width))
    refuse_too_large("resampling", kind, x.builder.limits.array_bytes)


def resized(x: Var, axis: int, count: int, method: str, *, antialias: bool) -> Var:
    """``count`` elements along ``axis`` by one of the methods of ``resize_image``."""
    if method == "nearest":
        return chosen(x, axis, count, lambda length: _middles(count) * length // max(2 * count, 1))
    if method == "area":
        return weighed(x, axis, count, lambda length: _area_weights(count, length))

    def weights(length: int) -> Any:
        scale = length / max(count, 1)
        width = max(scale, 1.0) if antialias else 1.0
        return kernel_weights(centres(count, scale), length, _KERNELS[method], width)

    return weighed(x, axis, count, weights)


@macro("resize_image")
def resize_image(
    b: Builder, image: Any, shape: Static, method: Static = "linear", antialias: Static = True
) -> Any:
    """The image with another ``shape`` of as many axes, interpolated along those that change.

    Elements fill their places: the middle of element ``i`` of ``m`` lies at ``(i + 1/2) n / m -
    1/2`` among ``n``.  ``method`` is ``nearest``, ``linear``, ``cubic`` (Keys, ``a = -1/2``),
    ``lanczos3``, ``lanczos5``, ``gaussian``, ``mitchellcubic`` or ``area``, the mean of what is
    covered.  Where it shrinks, ``antialias`` widens the kernel as much.  Elements beyond the edge
    have no weight, and the others' sum to 1.
    """
    x, target, smooth = b.array(image), lengths(shape), flag(antialias, "antialias")
    if len(target) != x.ndim:
        raise ShapeMismatch(f"resize_image needs {x.ndim} lengths as {x.type} has, got {target}")
    if method not in ("nearest", "area", *_KERNELS):
        raise BadArgument(f"resize_image knows the methods nearest, area, {', '.join(_KERNELS)}")
    x = x if method == "nearest" else b.inexact(x)
    for axis, count in enumerate(target):
        if count != x.type.shape[axis]:
            x = resized(x, axis, count, method, antialias=smooth)
    return x
