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
from gradwire_engine.ops.linalg.products import MatMul

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


#: The kernels by their methods' names.
KERNELS: dict[str, Kernel] = {
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), hat),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), cubic(-0.5)),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": _gaussian,
    "mitchellcubic": _mitchell,
}


def weighed(x: Var, axis: int, count: int, weights: Callable[[Any, int], Any]) -> Var:
    """``z_i = sum_j w_ij x_j`` along ``axis``.

    ``weights`` makes rows of ``w`` for a column of numbers ``i``, and the length there.
    """
    b, length = x.builder, _length(x, axis, count)
    if axis == x.ndim - 1:
        columns = b.table((length, count), lambda _, i: weights(i.T, length).T, x.dtype, by=1)
        return MatMul()(x, columns)
    rows = b.table((count, length), lambda i, _: weights(i, length), x.dtype, by=0)
    z: Var = moveaxis(b, MatMul()(rows, moveaxis(b, x, axis, -2)), -2, axis)
    return z


def kernel_weights(
    positions: Any, length: int, kernel: Kernel, width: float = 1.0, border: int = 0
) -> Any:
    """Rows of weights of ``length`` elements for a column of ``positions``, summing to 1.

    The outermost elements stand also for ``border`` more on either side.
    """
    index = np.arange(-border, length + border, dtype=positions.dtype)
    around = kernel(np.abs(positions - index) / width)
    weights = around[:, border : border + length]
    if border:
        weights[:, 0] += around[:, :border].sum(1)
        weights[:, -1] += around[:, -border:].sum(1)
    return weights / weights.sum(1, keepdims=True)


def area_weights(i: Any, count: int, length: int) -> Any:
    """The share that each element has in stretch ``i`` of ``count`` equal ones."""
    index, scale = np.arange(length), length / count
    covered = np.minimum((i + 1) * scale, index + 1) - np.maximum(i * scale, index)
    return covered.clip(0) * (count / length)


def chosen(x: Var, axis: int, count: int, index: Callable[[Any, int], Any]) -> Var:
    """``z_i = x_j`` along ``axis``, ``j`` made by ``index`` of ``i`` and the length there."""
    b, length = x.builder, _length(x, axis, count)
    return take(b, x, b.table((count,), lambda i: index(i, length)), axis)


def nearest(x: Var, axis: int, count: int, scale: float, middle: float) -> Var:
    """``z_i = x_j`` along ``axis``, with ``j`` the last before ``(i + middle) scale``."""

    def index(i: Any, length: int) -> Any:
        return np.floor((i + middle) * scale).astype("int64").clip(0, length - 1)

    return chosen(x, axis, count, index)


def stretched(
    x: Var,
    axis: int,
    count: int,
    scale: float,
    kernel: Kernel,
    *,
    middle: float = 0.5,
    width: float = 1.0,
    border: int = 0,
    inside: bool = False,
) -> Var:
    """Elements weighed by a kernel of ``width`` around ``(i + middle) scale - middle``.

    ``inside`` moves these positions to the outermost elements, which otherwise stand also for
    ``border`` more on either side.
    """

    def weights(i: Any, length: int) -> Any:
        positions = (i + middle) * scale - middle
        if inside:
            positions = positions.clip(0, length - 1)
        return kernel_weights(positions, length, kernel, width, border)

    return weighed(x, axis, count, weights)


def _length(x: Var, axis: int, count: int) -> int:
    """The length along ``axis``, of which elements are to be made."""
    length = x.shape[axis]
    if count and not length:
        raise ShapeMismatch(f"there is nothing to interpolate along axis {axis} of {x.type}")
    return length


def resized(x: Var, axis: int, count: int, method: str, *, antialias: bool) -> Var:
    """``count`` elements along ``axis`` by one of the methods of ``resize_image``."""
    if method == "nearest":
        return chosen(x, axis, count, lambda i, length: (2 * i + 1) * length // (2 * count))
    if method == "area":
        return weighed(x, axis, count, lambda i, length: area_weights(i, count, length))
    scale = x.shape[axis] / max(count, 1)
    width = max(scale, 1.0) if antialias else 1.0
    return stretched(x, axis, count, scale, KERNELS[method], width=width)


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
    if method not in ("nearest", "area", *KERNELS):
        raise BadArgument(f"resize_image knows the methods nearest, area, {', '.join(KERNELS)}")
    x = x if method == "nearest" else b.inexact(x)
    for axis, count in enumerate(target):
        if count != x.shape[axis]:
            x = resized(x, axis, count, method, antialias=smooth)
    return x
