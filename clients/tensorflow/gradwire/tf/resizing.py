"""``tf.image``: pictures that are converted, brought to a size, changed at random, chosen."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype
from gradwire.tf.errors import invalid
from gradwire.tf.gathering import where
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import image as pictures
from gradwire.tf.operations.types import DTypeLike, Ints, TensorLike
from gradwire.tf.operators import cast, multiply
from gradwire.tf.products import saturate_cast
from gradwire.tf.random import stateful, stateless
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue",
    "adjust_saturation", "convert_image_dtype", "crop_and_resize", "draw_bounding_boxes",
    "non_max_suppression", "per_image_standardization", "psnr", "random_brightness",
    "random_contrast",
    "random_crop", "random_flip_left_right", "random_flip_up_down", "random_hue",
    "random_saturation", "resize", "resize_with_crop_or_pad", "resize_with_pad",
    "rgb_to_grayscale", "ssim", "ssim_multiscale",
    "stateless_random_brightness", "stateless_random_contrast", "stateless_random_crop",
    "stateless_random_flip_left_right", "stateless_random_flip_up_down", "stateless_random_hue",
    "stateless_random_saturation",
]  # fmt: skip

P = ParamSpec("P")


class ResizeMethod:
    """Names of how pictures are resized."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def resize(
    images: TensorLike,
    size: Ints,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Pictures of another height and width, float32 unless the method takes nearest elements."""
    return resized(images, size, method, preserve_aspect_ratio, bool(antialias))


def resized(
    images: TensorLike, size: Ints, method: str, preserve_aspect_ratio: bool, *how: bool
) -> Tensor:
    """Pictures resized, with the service's further arguments: antialias, corners, centers."""
    x = convert_to_tensor(images)
    lengths = x._lengths()
    if len(lengths) not in (3, 4):
        raise ValueError(f"`images` must have 3 axes, or 4 for a batch; got {len(lengths)}")
    new, old = np.array([static.lengths(size), lengths[-3:-1]], np.float32)
    if preserve_aspect_ratio:
        new = np.rint((new / old).min() * old)
    height, width = new.astype(int).tolist()
    if not min(height, width, *lengths[-3:-1]) > 0:
        raise invalid(f"image sizes must be positive, got {lengths} and {[height, width]}")
    kind = x.dtype if method == ResizeMethod.NEAREST_NEIGHBOR else dtypes.float32
    spec = Spec(kind, (*lengths[:-3], height, width, lengths[-1]))
    pictures_ = cast(x, kind)
    return call("tf.image.resize", pictures_, [height, width], method, False, *how, spec=spec)


def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Intensities in another dtype: floating ones go from 0 to 1, integers over their range."""
    x, kind = convert_to_tensor(image), as_dtype(dtype)
    if x.dtype == kind:
        return x
    convert = saturate_cast if saturate else cast
    if x.dtype.is_integer and kind.is_integer:
        if x.dtype.max > kind.max:
            scale = (x.dtype.max + 1) // (kind.max + 1)
            return convert(x // np.asarray(scale, x.dtype.storage), kind)
        scale = (kind.max + 1) // (x.dtype.max + 1)
        return multiply(cast(x, kind), np.asarray(scale, kind.storage))
    if x.dtype.is_floating and kind.is_floating:
        return cast(x, kind)
    if x.dtype.is_integer:
        return multiply(cast(x, kind), np.asarray(1.0 / x.dtype.max, kind.storage))
    scaled = multiply(x, np.asarray(kind.max + 0.5, x.dtype.storage))
    return convert(scaled, kind)


def resize_with_crop_or_pad(image: TensorLike, target_height: Ints, target_width: Ints) -> Tensor:
    """The middle of a picture, or the picture within a border of zeros."""
    x = convert_to_tensor(image)
    height, width = x._lengths()[-3:-1]
    wanted = static.integer(target_height), static.integer(target_width)
    cut = [max((n - m) // 2, 0) for n, m in zip((height, width), wanted, strict=True)]
    kept = [min(n, m) for n, m in zip((height, width), wanted, strict=True)]
    border = [max((m - n) // 2, 0) for n, m in zip((height, width), wanted, strict=True)]
    part = pictures.crop_to_bounding_box(x, cut[0], cut[1], kept[0], kept[1])
    return pictures.pad_to_bounding_box(part, border[0], border[1], wanted[0], wanted[1])


def resize_with_pad(
    image: TensorLike,
    target_height: Ints,
    target_width: Ints,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """The picture as large as fits, within a border of zeros."""
    x = convert_to_tensor(image)
    wanted = static.integer(target_height), static.integer(target_width)
    new, old = np.array([wanted, x._lengths()[-3:-1]], np.float32)
    exact = old / (old / new).max()
    border = np.floor((new - exact) / 2).clip(0).astype(int).tolist()
    small = resize(x, np.floor(exact).astype(int).tolist(), method, antialias=antialias)
    return pictures.pad_to_bounding_box(small, border[0], border[1], wanted[0], wanted[1])


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """The picture, or its mirror image."""
    return _maybe(pictures.flip_left_right, image, lambda shape: stateful.uniform(shape, seed=seed))


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """The picture, or the picture upside down."""
    return _maybe(pictures.flip_up_down, image, lambda shape: stateful.uniform(shape, seed=seed))


def _maybe(change: Callable[..., Tensor], image: TensorLike, draw: Callable[..., Tensor]) -> Tensor:
    """A picture, or each of several, changed or not."""
    x = convert_to_tensor(image)
    lengths = x._lengths()
    if len(lengths) == 3:
        return change(x) if float(draw([])) < 0.5 else x
    drawn = np.round(static.array(draw([lengths[0]]))).reshape(-1, 1, 1, 1)
    return where(drawn == 1, change(x), x)


def _of_intensities(
    function: Callable[P, Tensor], *names: str, back: bool = True, saturate: bool = True
) -> Callable[P, Tensor]:
    """The function also of integers for ``names``: of their intensities from 0 to 1.

    ``back`` converts the result into the dtype of the first picture.
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Tensor:
        given: dict[str, Any] = kwargs | dict(zip(names, args, strict=False))
        kind = dtypes.float32 if names[0] not in given else convert_to_tensor(given[names[0]]).dtype
        if kind.is_floating or not all(name in given for name in names):
            return function(*args, **kwargs)
        for name in names:
            x = convert_to_tensor(given[name])
            x = x if x._lengths() else cast(x, kind)  # a limit is a number of the picture's dtype
            given[name] = convert_image_dtype(x, dtypes.float32)
        pictured = [given.pop(name) for name in names]
        whole: Any = function
        z: Tensor = whole(*pictured, *args[len(names) :], **given)
        return convert_image_dtype(z, kind, saturate) if back else z

    return called


adjust_brightness: Callable[..., Tensor] = _of_intensities(pictures.adjust_brightness, "image")
adjust_contrast: Callable[..., Tensor] = _of_intensities(pictures.adjust_contrast, "images")
adjust_saturation: Callable[..., Tensor] = _of_intensities(pictures.adjust_saturation, "image")
rgb_to_grayscale: Callable[..., Tensor] = _of_intensities(
    pictures.rgb_to_grayscale, "images", saturate=False
)
psnr: Callable[..., Tensor] = _of_intensities(pictures.psnr, "a", "b", "max_val", back=False)
ssim: Callable[..., Tensor] = _of_intensities(pictures.ssim, "img1", "img2", "max_val", back=False)
ssim_multiscale: Callable[..., Tensor] = _of_intensities(
    pictures.ssim_multiscale, "img1", "img2", "max_val", back=False
)
_hue = _of_intensities(pictures.adjust_hue, "image")
_gamma = _of_intensities(pictures.adjust_gamma, "image")


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """The picture with its hue moved, a turn being 1."""
    if isinstance(delta, (int, float)) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _hue(image, delta)


def adjust_gamma(
    image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1, name: str | None = None
) -> Tensor:
    """``z = gain x^gamma``."""
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return _gamma(image, gamma, gain)


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: Ints,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Parts of images (n, h, w, channels), of ``crop_size``, in float32."""
    x = cast(image, dtypes.float32)
    return pictures.crop_and_resize(x, boxes, box_indices, crop_size, method, extrapolation_value)


def _moved_by(image: TensorLike, max_delta: float, seed: TensorLike) -> Callable[..., Tensor]:
    delta = float(stateless.stateless_uniform([], seed, -max_delta, max_delta))
    return lambda adjust: adjust(image, delta)


@variant(_moved_by, adjust_hue)
def stateless_random_hue() -> Tensor:
    """The picture with its hue moved, as the seed decides."""


def _scaled_by(
    image: TensorLike, lower: float, upper: float, seed: TensorLike
) -> Callable[..., Tensor]:
    factor = float(stateless.stateless_uniform([], seed, lower, upper))
    return lambda adjust: adjust(image, factor)


@variant(_scaled_by, adjust_saturation)
def stateless_random_saturation() -> Tensor:
    """The picture with its saturation times a number, as the seed decides."""


def _moved(image: TensorLike, max_delta: float, seed: int | None = None) -> Callable[..., Tensor]:
    delta = float(stateful.uniform([], -max_delta, max_delta, seed=seed))
    return lambda adjust: adjust(image, delta)


@variant(_moved, adjust_brightness)
def random_brightness() -> Tensor:
    """The picture, brighter or darker by ``max_delta`` at most."""


def _scaled(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Callable[..., Tensor]:
    factor = float(stateful.uniform([], lower, upper, seed=seed))
    return lambda adjust: adjust(image, factor)


@variant(_scaled, adjust_contrast)
def random_contrast() -> Tensor:
    """The picture with its contrast times a number from ``lower`` to ``upper``."""


@variant(_moved, adjust_hue)
def random_hue() -> Tensor:
    """The picture with its hue moved by ``max_delta`` at most."""


@variant(_scaled, adjust_saturation)
def random_saturation() -> Tensor:
    """The picture with its saturation times a number from ``lower`` to ``upper``."""


def random_crop(
    value: TensorLike, size: Ints, seed: int | None = None, name: str | None = None
) -> Tensor:
    """A part of a size, from anywhere."""
    x, wanted = convert_to_tensor(value), static.lengths(size)
    drawn = static.array(stateful.uniform([len(wanted)], 0, 2**31 - 1, dtypes.int32, seed))
    return _cropped(x, wanted, drawn)


def stateless_random_crop(
    value: TensorLike, size: Ints, seed: TensorLike, name: str | None = None
) -> Tensor:
    """A part of a size, from a place that the seed decides."""
    x, wanted = convert_to_tensor(value), static.lengths(size)
    drawn = stateless.stateless_uniform([len(wanted)], seed, 0, 2**31 - 1, dtypes.int32)
    return _cropped(x, wanted, static.array(drawn))


def _cropped(x: Tensor, wanted: tuple[int, ...], drawn: Any) -> Tensor:
    lengths = x._lengths()
    if any(m > n for n, m in zip(lengths, wanted, strict=True)):
        raise ValueError(f"Need value.shape >= size, got {lengths} and {wanted}")
    starts = [int(d) % (n - m + 1) for n, m, d in zip(lengths, wanted, drawn, strict=True)]
    items = tuple([slice(a, a + m) for a, m in zip(starts, wanted, strict=True)])
    return x[items]  # type: ignore[no-any-return]


def _flipped_by(image: TensorLike, seed: TensorLike) -> Callable[..., Tensor]:
    return lambda flip: _maybe(flip, image, lambda shape: stateless.stateless_uniform(shape, seed))


@variant(_flipped_by, pictures.flip_left_right)
def stateless_random_flip_left_right() -> Tensor:
    """The picture, or its mirror image, as the seed decides."""


@variant(_flipped_by, pictures.flip_up_down)
def stateless_random_flip_up_down() -> Tensor:
    """The picture, or the picture upside down, as the seed decides."""


@variant(_moved_by, adjust_brightness)
def stateless_random_brightness() -> Tensor:
    """The picture, brighter or darker by ``max_delta`` at most, as the seed decides."""


@variant(_scaled_by, adjust_contrast)
def stateless_random_contrast() -> Tensor:
    """The picture with its contrast times a number, as the seed decides."""


def per_image_standardization(image: TensorLike, name: str | None = None) -> Tensor:
    """Each picture with mean 0 and variance 1, in float32."""
    return pictures.per_image_standardization(cast(image, dtypes.float32))


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: Ints,
    iou_threshold: float = 0.5,
    score_threshold: float = -math.inf,
    name: str | None = None,
) -> Tensor:
    """Boxes by falling score, without those that overlap a better one too much."""
    areas, marks = static.array(boxes), static.array(scores)
    kept: list[int] = []
    for place in np.argsort(-marks, kind="stable").tolist():
        if len(kept) >= static.integer(max_output_size) or marks[place] <= score_threshold:
            break
        if all(_overlap(areas[place], areas[other]) <= iou_threshold for other in kept):
            kept.append(place)
    return tensor_of(np.array(kept, np.int32))


def _overlap(a: Any, b: Any) -> float:
    """The part that two boxes have in common."""
    (y0, x0, y1, x1), (v0, u0, v1, u1) = (
        (*np.minimum(box[:2], box[2:]), *np.maximum(box[:2], box[2:])) for box in (a, b)
    )
    both = max(0.0, min(y1, v1) - max(y0, v0)) * max(0.0, min(x1, u1) - max(x0, u0))
    either = (y1 - y0) * (x1 - x0) + (v1 - v0) * (u1 - u0) - both
    return float(both / either) if either > 0 else 0.0


#: The colours of outlines where none are given.
_PALETTE = np.array([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
    [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
])  # fmt: skip


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: TensorLike | None, name: str | None = None
) -> Tensor:
    """Pictures with the outlines of boxes, whose corners round towards the first pixels."""
    pixels, outlines = static.array(images).copy(), static.array(boxes).astype(np.float32)
    last = np.array(pixels.shape[1:3]) - 1
    palette = _PALETTE if colors is None else static.array(colors).copy()
    if pixels.shape[3] == 1:
        palette = np.ones_like(palette)
    for picture, frames in zip(pixels, outlines, strict=True):
        for number, frame in enumerate(frames):
            color = palette[number % len(palette)][: pixels.shape[3]]
            low = (frame[:2] * last.astype(np.float32)).astype(int)
            high = (frame[2:] * last.astype(np.float32)).astype(int)
            if (low > high).any() or (low > last).any() or (high < 0).any():
                continue
            rows, columns = map(slice, low.clip(0), np.minimum(high, last) + 1)
            for row in {low[0], high[0]} & {*range(last[0] + 1)}:
                picture[row, columns] = color
            for column in {low[1], high[1]} & {*range(last[1] + 1)}:
                picture[rows, column] = color
    return tensor_of(pixels)
