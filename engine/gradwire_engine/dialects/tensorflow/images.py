"""TensorFlow's ``tf.image``, and what ``tf.nn`` does with images and channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.gathering import from_start
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import picked, sliced
from gradwire_engine.ops.axes import flag, integer, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.images.interpolation import SPLINES, inside, sampled
from gradwire_engine.ops.images.resampling import (
    KERNELS,
    area_weights,
    chosen,
    cubic,
    kernel_weights,
    weighed,
)
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.promotion import inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

TF.entry("nn.space_to_depth nn.depth_to_space", "", "input block_size data_format='NHWC'")
TF.entry("image.rgb_to_grayscale image.rgb_to_hsv image.hsv_to_rgb", "", "images")
TF.entry("image.rgb_to_yuv image.yuv_to_rgb image.rgb_to_yiq image.yiq_to_rgb", "", "images")
TF.entry("image.adjust_brightness", "add", "image delta")
TF.entry("image.adjust_hue", "", "image delta")
TF.entry("image.adjust_saturation", "", "image saturation_factor")
TF.entry("image.adjust_contrast", "", "images contrast_factor")
TF.entry("image.adjust_gamma", "", "image gamma=1 gain=1")
TF.entry("image.total_variation", "", "images")
TF.entry("image.image_gradients image.sobel_edges", "", "image")
TF.entry("image.psnr", "", "a b:other max_val")
TF.entry("image.ssim", "", "img1 img2 max_val filter_size=11 filter_sigma=1.5 k1=0.01 k2=0.03")
TF.entry(
    "image.ssim_multiscale",
    "",
    "img1 img2 max_val power_factors=(0.0448,0.2856,0.3001,0.2363,0.1333) "
    "filter_size=11 filter_sigma=1.5 k1=0.01 k2=0.03",
)

_METHODS = ("bilinear", "bicubic", "nearest", "area", "lanczos3", "lanczos5", "gaussian")
#: A position between elements counts as the nearest of so many in bicubic interpolation.
_PARTS = 1024


def _image(b: Builder, images: Any, name: str) -> Var:
    x = b.array(images)
    if x.ndim not in (3, 4):
        raise ShapeMismatch(f"{name} needs an image (h, w, channels) or several, got {x.type}")
    return x


@TF.macro("image.resize")
def resize(
    b: Builder,
    images: Any,
    size: Static,
    method: Static = "bilinear",
    preserve_aspect_ratio: Static = False,
    antialias: Static = False,
    align_corners: Static = False,
    half_pixel_centers: Static = True,
) -> Any:
    """Images (h, w, channels), or several, of another ``size`` (h, w).

    ``method`` is ``bilinear``, ``bicubic`` (Keys, ``a = -1/2``), ``nearest``, ``area``,
    ``lanczos3``, ``lanczos5``, ``gaussian`` or ``mitchellcubic``.  Positions are rounded to
    float32, and for ``bicubic`` without ``antialias`` to 1/1024 of a pixel, as in TensorFlow.
    Positions of TensorFlow 1, for the first three methods: ``align_corners`` puts the outermost
    pixels on each other, else without ``half_pixel_centers`` the first ones; Keys' ``a`` is
    then -3/4, and the outermost pixels stand for those beyond.
    """
    x, target = _image(b, images, "resize"), lengths(size, "size")
    if len(target) != 2:
        raise BadArgument(f"resize needs a size (h, w), got {target}")
    if method not in (*_METHODS, "mitchellcubic"):
        raise BadArgument(f"resize knows the methods {', '.join(_METHODS)} and mitchellcubic")
    height, width = x.type.shape[-3:-1]
    if flag(preserve_aspect_ratio, "preserve_aspect_ratio"):
        new, old = np.array([target, (height, width)], np.float32)
        target = tuple(np.rint((new / np.maximum(old, 1)).min() * old).astype(int).tolist())
    smooth, corners = flag(antialias, "antialias"), flag(align_corners, "align_corners")
    middles = flag(half_pixel_centers, "half_pixel_centers") and not corners
    if not middles and (smooth or method not in _METHODS[:3]):
        raise BadArgument(f"{method} needs the centers of pixels", hint="leave out align_corners")
    x = x if method == "nearest" else b.inexact(x)
    if target == (height, width) and method not in ("gaussian", "mitchellcubic"):
        return x
    # Kernels that smooth do so also along an axis whose length stays.
    for axis, count in zip((x.ndim - 3, x.ndim - 2), target, strict=True):
        x = _resized(x, axis, count, method, smooth=smooth, middles=middles, corners=corners)
    return x


def _resized(
    x: Var, axis: int, count: int, method: str, *, smooth: bool, middles: bool, corners: bool
) -> Var:
    """``count`` elements along ``axis``, by TensorFlow's kernels: they place them in float32."""
    length = x.type.shape[axis]
    old, new = (np.float32(n - (corners and count > 1)) for n in (length, count))
    twice = smooth or method not in _METHODS[:4]  # such kernels are given the inverse of the scale
    scale = 1 / (new / max(old, np.float32(1))) if twice else old / max(new, np.float32(1))
    half = np.float32(0.5 if middles else 0)

    def index(i: Any, length: int) -> Any:
        at = (i.astype(np.float32) + half) * scale
        return np.floor(at + np.float32(0.5 if corners else 0)).clip(0, length - 1).astype(int)

    def weights(i: Any, length: int) -> Any:
        at = (i.astype(np.float32) + half) * scale - half
        if method == "bicubic" and not smooth:
            whole = np.floor(at).astype(float)
            at = whole + np.rint((at - whole) * _PARTS) / _PARTS
        if not middles and method == "bicubic":
            return kernel_weights(at, length, cubic(-0.75), border=2)
        if method == "bilinear" and not smooth:
            at = at.clip(0, length - 1)
        narrow = 1 / np.maximum(scale, np.float32(1)) if smooth else np.float32(1)
        return kernel_weights(at, length, lambda t: KERNELS[method](t * narrow))

    if method == "nearest":
        return chosen(x, axis, count, index)
    if method == "area":
        return weighed(x, axis, count, lambda i, n: area_weights(i.astype(np.float32), count, n))
    return weighed(x, axis, count, weights)


@TF.macro("image.crop_and_resize")
def crop_and_resize(
    b: Builder,
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Static,
    method: Static = "bilinear",
    extrapolation_value: Any = 0.0,
) -> Any:
    """Parts of images (n, h, w, channels), of ``crop_size``, the images by ``box_indices``.

    Rows of ``boxes`` are y and x of a part's first pixel, then of its last, from 0 to 1 between the
    image's own; of a single pixel, the middle.
    """
    x, corners, fill = b.promote(image, boxes, extrapolation_value, rule=inexact_promoted)
    which, size = from_start(b, b.array(box_indices), x), lengths(crop_size, "crop_size")
    if x.ndim != 4 or corners.type.shape != (*which.type.shape, 4) or len(size) != 2:
        hint = "images (n, h, w, channels), boxes (m, 4), box_indices (m,), crop_size (h, w)"
        raise ShapeMismatch(f"crop_and_resize got {x.type}, {corners.type}, {size}", hint=hint)
    if method not in ("bilinear", "nearest"):
        raise BadArgument("crop_and_resize knows the methods bilinear and nearest")
    first, second, third, fourth = (picked(corners, 1, index) for index in range(4))
    count = which.type.size
    positions = [
        reshape(_stretch(start, stop, n, length), (count, *place))
        for start, stop, n, length, place in (
            (first, third, size[0], x.type.shape[1], (size[0], 1)),
            (second, fourth, size[1], x.type.shape[2], (1, size[1])),
        )
    ]
    within = inside(x, positions, 1)
    numbers = reshape(which, (count, 1, 1))
    if method == "nearest":  # of two the one further on
        positions = [recorded("floor")(b, position + 0.5) for position in positions]
    z = sampled(x, positions, SPLINES[method == "bilinear"], "nearest", leading=[numbers])
    return Where()(reshape(within, (*within.type.shape, 1)), z, fill)


def _stretch(start: Var, stop: Var, count: int, length: int) -> Var:
    """``count`` indices from ``start`` to ``stop``, which are 1 at the last of ``length``."""
    b = start.builder
    if count == 1:
        return reshape((start + stop) * (0.5 * (length - 1)), (*start.type.shape, 1))
    step, numbers = (stop - start) * (length - 1) / (count - 1), b.numbers(count)
    first, step = (reshape(each, (*start.type.shape, 1)) for each in (start * (length - 1), step))
    return first + step * b.cast(numbers, start.dtype)


@TF.macro("image.per_image_standardization")
def per_image_standardization(b: Builder, image: Any) -> Any:
    """Each image with mean 0 and variance 1; its deviation counts as ``1 / sqrt(n)`` at least."""
    x = b.inexact(_image(b, image, "per_image_standardization"))
    count = x.type.size // max(1, x.type.shape[0] if x.ndim == 4 else 1)
    mean, spread = (recorded(name)(b, x, (-3, -2, -1), keepdims=True) for name in ("mean", "std"))
    least = recorded("maximum")(b, spread, max(count, 1) ** -0.5)
    return recorded("divide")(b, recorded("subtract")(b, x, mean), least)


@TF.macro("image.crop_to_bounding_box")
def crop_to_bounding_box(
    b: Builder,
    image: Any,
    offset_height: Static,
    offset_width: Static,
    target_height: Static,
    target_width: Static,
) -> Any:
    """The part of ``target_height`` by ``target_width`` below and right of the offset."""
    x = _image(b, image, "crop_to_bounding_box")
    spans = ((-3, offset_height, target_height), (-2, offset_width, target_width))
    for axis, offset, length in spans:
        start, count = integer(offset, "the offset"), integer(length, "the target")
        if start < 0 or count < 1 or start + count > x.type.shape[axis]:
            raise BadArgument(f"{count} pixels from {start} are not in {x.type}")
        x = sliced(x, x.ndim + axis, start, start + count)
    return x


@TF.macro("image.central_crop")
def central_crop(b: Builder, image: Any, central_fraction: Static) -> Any:
    """The middle of an image, ``central_fraction`` of its height and width."""
    x, share = _image(b, image, "central_crop"), central_fraction
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise BadArgument("central_crop needs a fraction above 0, and at most 1")
    for axis in (x.ndim - 3, x.ndim - 2):
        length = x.type.shape[axis]
        start = int((length - length * share) / 2)
        x = sliced(x, axis, start, length - start)
    return x


@TF.macro("image.pad_to_bounding_box")
def pad_to_bounding_box(
    b: Builder,
    image: Any,
    offset_height: Static,
    offset_width: Static,
    target_height: Static,
    target_width: Static,
) -> Any:
    """The image below and right of the offset in zeros, ``target_height`` by ``target_width``."""
    x = _image(b, image, "pad_to_bounding_box")
    height, width = x.type.shape[-3:-1]
    above, left = integer(offset_height, "the offset"), integer(offset_width, "the offset")
    below = integer(target_height, "the target") - above - height
    right = integer(target_width, "the target") - left - width
    return recorded("pad")(b, x, [(0, 0)] * (x.ndim - 3) + [(above, below), (left, right), (0, 0)])
