"""TensorFlow's ``tf.image``, and what ``tf.nn`` does with images and channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import flag, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.images.resampling import (
    KERNELS,
    area_weights,
    chosen,
    cubic,
    kernel_weights,
    weighed,
)

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
