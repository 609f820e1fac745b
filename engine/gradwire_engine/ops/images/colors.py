"""Colours: red, green and blue along the last axis as other quantities, and adjusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.arrays.slicing import picked
from gradwire_engine.ops.base import macro
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Power, Remainder
from gradwire_engine.ops.pointwise.comparison import Equal
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, Where, clip
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.reductions.reductions import Sum

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Rows for red, green and blue.  Source: Rec. ITU-R BT.601 for Y; NTSC 1953 for I and Q.
_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_FROM_YUV = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))
_FROM_YIQ = (
    (1, 1, 1),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
_GRAY = ((0.2989,), (0.587,), (0.114,))


def _colors(b: Builder, images: Any, name: str) -> Var:
    x = b.inexact(images)
    if x.dtype.kind != "f":
        raise DtypeMismatch(f"{name} takes real numbers, got {x.type}")
    if not x.ndim or x.type.shape[-1] != 3:
        raise ShapeMismatch(f"{name} needs 3 colours along the last axis, got {x.type}")
    return x


def _mixed(b: Builder, images: Any, matrix: Any, name: str) -> Any:
    x = _colors(b, images, name)
    return MatMul()(x, b.constant(np.asarray(matrix).astype(x.dtype)))


@macro("rgb_to_grayscale")
def rgb_to_grayscale(b: Builder, images: Any) -> Any:
    """Brightness ``0.2989 r + 0.587 g + 0.114 b``; the last axis becomes 1."""
    return _mixed(b, images, _GRAY, "rgb_to_grayscale")


@macro("rgb_to_yuv")
def rgb_to_yuv(b: Builder, images: Any) -> Any:
    """Luma and two differences of colour, as in analogue television (PAL)."""
    return _mixed(b, images, _YUV, "rgb_to_yuv")


@macro("yuv_to_rgb")
def yuv_to_rgb(b: Builder, images: Any) -> Any:
    """The inverse of ``rgb_to_yuv``, to six digits."""
    return _mixed(b, images, _FROM_YUV, "yuv_to_rgb")


@macro("rgb_to_yiq")
def rgb_to_yiq(b: Builder, images: Any) -> Any:
    """Luma and two differences of colour, as in analogue television (NTSC)."""
    return _mixed(b, images, _YIQ, "rgb_to_yiq")


@macro("yiq_to_rgb")
def yiq_to_rgb(b: Builder, images: Any) -> Any:
    """The inverse of ``rgb_to_yiq``, to three digits."""
    return _mixed(b, images, _FROM_YIQ, "yiq_to_rgb")


@macro("rgb_to_hsv")
def rgb_to_hsv(b: Builder, images: Any) -> Any:
    """Hue, saturation ``1 - min / max`` and value ``max``, all from 0 to 1 for such colours.

    Convention: hue 0 of grey and saturation 0 of black, with derivative 0; of equal largest
    colours the first is taken.  Source: Smith, Color Gamut Transform Pairs (1978).
    """
    red, green, blue = _parts(_colors(b, images, "rgb_to_hsv"))
    value = Maximum()(red, Maximum()(green, blue))
    spread = value - Minimum()(blue, Minimum()(green, red))
    zero, one = b.scalar(0, value.dtype), b.scalar(1, value.dtype)
    black, gray = Equal()(value, zero), Equal()(spread, zero)
    saturation = Where()(black, zero, spread / Where()(black, one, value))
    sixth = Where()(gray, one, spread * 6)
    hue = Where()(
        Equal()(red, value),
        (green - blue) / sixth,
        Where()(Equal()(green, value), (blue - red) / sixth + 1 / 3, (red - green) / sixth + 2 / 3),
    )
    turned = Where()(zero.exceeds(hue), hue + 1, hue)
    return _stacked([Where()(gray, zero, turned), saturation, value])


@macro("hsv_to_rgb")
def hsv_to_rgb(b: Builder, images: Any) -> Any:
    """The inverse of ``rgb_to_hsv``: hue, saturation and value as red, green and blue."""
    hue, saturation, value = _parts(_colors(b, images, "hsv_to_rgb"))
    sixths = hue * 6
    full = [
        Absolute()(sixths - 3) - 1,
        2 - Absolute()(sixths - 2),
        2 - Absolute()(sixths - 4),
    ]
    pure = [clip(b, part, 0.0, 1.0) for part in full]
    return _stacked([value * (1 - saturation + saturation * part) for part in pure])


def _parts(x: Var) -> list[Var]:
    return [picked(x, x.ndim - 1, index) for index in range(3)]


def _stacked(parts: Sequence[Var]) -> Var:
    return Stack(parts[0].ndim)(*parts)


@macro("adjust_hue")
def adjust_hue(b: Builder, image: Any, delta: Any) -> Any:
    """Colours with ``delta`` added to their hue, around the circle."""
    hue, saturation, value = _parts(rgb_to_hsv(b, image))
    hue, moved = b.promote(hue, delta)
    turned = Remainder()(hue + moved, b.scalar(1, hue.dtype))
    return hsv_to_rgb(b, _stacked([turned, saturation, value]))


@macro("adjust_saturation")
def adjust_saturation(b: Builder, image: Any, saturation_factor: Any) -> Any:
    """Colours whose saturation is multiplied by a factor, at most to 1."""
    hue, saturation, value = _parts(rgb_to_hsv(b, image))
    saturation, factor = b.promote(saturation, saturation_factor)
    return hsv_to_rgb(b, _stacked([hue, clip(b, saturation * factor, 0.0, 1.0), value]))


@macro("adjust_contrast")
def adjust_contrast(b: Builder, images: Any, contrast_factor: Any) -> Any:
    """``z = (x - mean x) factor + mean x``, the mean over height and width of each channel.

    Shapes: (..., h, w, channels).
    """
    x, factor = b.promote(images, contrast_factor, rule=inexact_promoted)
    if x.ndim < 3:
        raise ShapeMismatch(f"adjust_contrast needs images (..., h, w, channels), got {x.type}")
    count = x.type.shape[-3] * x.type.shape[-2]
    mean = Sum.over(x, (x.ndim - 3, x.ndim - 2), keepdims=True) / count
    return (x - mean) * factor + mean


@macro("adjust_gamma")
def adjust_gamma(b: Builder, image: Any, gamma: Any = 1.0, gain: Any = 1.0) -> Any:
    """``z = gain x^gamma``."""
    x, exponent, factor = b.promote(image, gamma, gain, rule=inexact_promoted)
    return Power()(x, exponent) * factor
