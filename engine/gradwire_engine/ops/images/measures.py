"""Images (..., h, w, channels) compared with each other, and with themselves one pixel further."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.arrays.padding import pad
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import Pad, sliced
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, Square
from gradwire_engine.ops.pointwise.exponential import Log
from gradwire_engine.ops.pointwise.selection import Maximum
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import FLOATING

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _image(x: Var, name: str) -> Var:
    if x.ndim < 3:
        raise ShapeMismatch(f"{name} needs images (..., h, w, channels), got {x.type}")
    if x.dtype.kind not in FLOATING:
        raise DtypeMismatch(f"{name} takes real numbers, got {x.type}")
    return x


def _mean(x: Var, count: int) -> Var:
    """The mean over the last ``count`` axes."""
    axes = tuple(range(x.ndim - count, x.ndim))
    return Sum.over(x, axes) / math.prod(x.type.shape[-count:])


def _differences(x: Var) -> tuple[Var, Var]:
    """Each pixel less the one above, and less the one to its left."""
    return _difference(x, x.ndim - 3), _difference(x, x.ndim - 2)


def _difference(x: Var, axis: int) -> Var:
    length = max(x.type.shape[axis], 1)
    return sliced(x, axis, min(1, length), length) - sliced(x, axis, 0, length - 1)


@macro("image_gradients")
def image_gradients(b: Builder, image: Any) -> Any:
    """A list of the differences to the next pixel below and to the right, 0 for the last ones."""
    x = _image(b.inexact(image), "image_gradients")
    results = []
    for place, difference in enumerate(_differences(x)):
        after = tuple([int(axis == x.ndim - 3 + place) for axis in range(x.ndim)])
        results.append(Pad((0,) * x.ndim, after)(difference))
    return results


@macro("total_variation")
def total_variation(b: Builder, images: Any) -> Any:
    """``z = sum |x_{i+1,j} - x_{ij}| + |x_{i,j+1} - x_{ij}|`` of each image.

    Convention: derivative 0 between equal pixels.  Source: Rudin, Osher and Fatemi (1992), with the
    absolute values taken one by one.
    """
    x = _image(b.inexact(images), "total_variation")
    last = (x.ndim - 3, x.ndim - 2, x.ndim - 1)
    rows, columns = [Sum.over(Absolute()(d), last) for d in _differences(x)]
    return rows + columns


def _filtered(x: Var, axis: int, taps: Any) -> Var:
    """``z_i = sum_k taps_k x_{i+k}`` along ``axis``, where all of these are there."""
    count = x.type.shape[axis] - len(taps) + 1
    z = sliced(x, axis, 0, count) * float(taps[0])
    for start, tap in enumerate(taps[1:], 1):
        z = z + sliced(x, axis, start, start + count) * float(tap)
    return z


@macro("sobel_edges")
def sobel_edges(b: Builder, image: Any) -> Any:
    """Slopes down and to the right along a new last axis, smoothed across; borders are mirrored.

    ``(-1, 0, 1)`` along the one axis and ``(1, 2, 1)`` along the other.
    """
    x = _image(b.inexact(image), "sobel_edges")
    down, right = x.ndim - 3, x.ndim - 2
    if min(x.type.shape[down : right + 1]) < 2:
        raise ShapeMismatch(f"sobel_edges needs at least 2 by 2 pixels, got {x.type}")
    x = pad(b, x, [(int(axis in (down, right)),) * 2 for axis in range(x.ndim)], "reflect")
    slope, smooth = (-1, 0, 1), (1, 2, 1)
    edges = [_filtered(_filtered(x, down, slope), right, smooth)]
    edges.append(_filtered(_filtered(x, down, smooth), right, slope))
    return Stack(x.ndim)(*edges)


def _pair(b: Builder, first: Any, second: Any, name: str) -> tuple[Var, Var]:
    x, y = b.promote(first, second, rule=inexact_promoted)
    shape = broadcast_shapes(x.type.shape, y.type.shape)
    return _image(b.broadcast(x, shape), name), _image(b.broadcast(y, shape), name)


@macro("psnr")
def psnr(b: Builder, a: Any, other: Any, max_val: Any) -> Any:
    """Ratio of peak signal to noise in decibels: ``z = 10 log10(max_val² / mean((a - b)²))``.

    Infinite for equal images.
    """
    x, y = _pair(b, a, other, "psnr")
    peak, error = b.promote(max_val, _mean(Square()(x - y), 3), rule=inexact_promoted)
    return (Log()(peak) * 2 - Log()(error)) * (10 / math.log(10))


def _similarity(
    b: Builder, pair: tuple[Var, Var], scales: tuple[Any, Any, Any], taps: Any
) -> tuple[Var, Var]:
    """Similarity of each channel, and its part that does not depend on brightness."""
    x, y, peak, low, high = b.promote(*pair, *scales)
    if len(taps) > min(x.type.shape[-3:-1]):
        raise ShapeMismatch(f"windows of {len(taps)} by {len(taps)} do not fit in {x.type}")

    def windows(v: Var) -> Var:
        return _filtered(_filtered(v, v.ndim - 3, taps), v.ndim - 2, taps)

    mean_x, mean_y = windows(x), windows(y)
    product, squares = mean_x * mean_y, Square()(mean_x) + Square()(mean_y)
    covariance = windows(x * y) - product
    variances = windows(Square()(x) + Square()(y)) - squares
    c1, c2 = Square()(low * peak), Square()(high * peak)
    structure = (covariance * 2 + c2) / (variances + c2)
    similarity = (product * 2 + c1) / (squares + c1) * structure
    pixels = (x.ndim - 3, x.ndim - 2)
    count = math.prod(similarity.type.shape[-3:-1])
    return Sum.over(similarity, pixels) / count, Sum.over(structure, pixels) / count


def _gaussian(x: Var, filter_size: Any, filter_sigma: Any) -> Any:
    """Weights of a window in ``x``, summing to 1."""
    size = integer(filter_size, "filter_size")
    if size < 1 or size > min(x.type.shape[-3:-1]):
        raise ShapeMismatch(f"windows of {size} by {size} do not fit in {x.type}")
    number = isinstance(filter_sigma, int | float) and not isinstance(filter_sigma, bool)
    if not number or filter_sigma <= 0:
        raise BadArgument(f"filter_sigma must be a positive number, got {describe(filter_sigma)}")
    taps = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / filter_sigma) ** 2)
    return taps / taps.sum()


@macro("ssim")
def ssim(
    b: Builder,
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: Static = 11,
    filter_sigma: Static = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
) -> Any:
    """Structural similarity, the mean over all windows and channels; 1 for equal images.

    ``(2 m_x m_y + c1) (2 s_xy + c2) / ((m_x² + m_y² + c1) (s_x² + s_y² + c2))`` with means and
    variances in Gaussian windows, and ``c = (k max_val)²``.  Source: Wang et al., Image Quality
    Assessment: From Error Visibility to Structural Similarity (2004).
    """
    pair = _pair(b, img1, img2, "ssim")
    taps = _gaussian(pair[0], filter_size, filter_sigma)
    return _mean(_similarity(b, pair, (max_val, k1, k2), taps)[0], 1)


#: The share of each scale.  Source: Wang, Simoncelli and Bovik (2003).
_SHARES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


@macro("ssim_multiscale")
def ssim_multiscale(
    b: Builder,
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Static = _SHARES,
    filter_size: Static = 11,
    filter_sigma: Static = 1.5,
    k1: Any = 0.01,
    k2: Any = 0.03,
) -> Any:
    """Structural similarity at several scales, each half as large as the one before.

    The product over scales of ``structure^power_factor``, with brightness at the smallest alone;
    what is negative counts 0.  Source: Wang, Simoncelli and Bovik, Multi-scale Structural
    Similarity for Image Quality Assessment (2003).
    """
    if not isinstance(power_factors, list | tuple) or not power_factors:
        raise BadArgument("power_factors is a list of numbers, one for each scale")
    x, y = _pair(b, img1, img2, "ssim_multiscale")
    taps = _gaussian(x, filter_size, filter_sigma)
    factors = []
    for scale in range(len(power_factors)):
        if scale:
            x, y = _halved(x), _halved(y)
        whole, structure = _similarity(b, (x, y), (max_val, k1, k2), taps)
        factors.append(whole if scale == len(power_factors) - 1 else structure)
    zero = b.scalar(0, factors[0].dtype)
    powers = [
        Power()(Maximum()(zero, factor), b.scalar(float(power), factor.dtype))
        for factor, power in zip(factors, power_factors, strict=True)
    ]
    return _mean(math.prod(powers[1:], start=powers[0]), 1)


def _halved(x: Var) -> Var:
    """Means of 2 by 2 pixels, the last row and column repeated where their number is odd."""
    b = x.builder
    for axis in (x.ndim - 3, x.ndim - 2):
        odd = x.type.shape[axis] % 2
        if odd:
            x = pad(b, x, [(0, odd if place == axis else 0) for place in range(x.ndim)], "edge")
        shape = x.type.shape
        pairs = reshape(x, (*shape[:axis], shape[axis] // 2, 2, *shape[axis + 1 :]))
        x = Sum((axis + 1,))(pairs) * 0.5
    return x
