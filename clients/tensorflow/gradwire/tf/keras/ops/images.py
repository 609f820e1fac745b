"""Keras's operations on images, ``keras.ops.image``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last


def extract_patches(
    images: Any,
    size: Any,
    strides: Any = None,
    dilation_rate: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The pixels of windows of images, each as a row."""
    channels_last("keras.ops.image.extract_patches", data_format)
    height, width = (size, size) if isinstance(size, int) else size
    down, right = (strides, strides) if isinstance(strides, int) else strides or (height, width)
    return tf.image.extract_patches(
        images,
        [1, height, width, 1],
        [1, down, right, 1],
        [1, dilation_rate, dilation_rate, 1],
        padding.upper(),
    )


def resize(images: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """Images of another height and width."""
    return tf.image.resize(images, size, method=interpolation)


def affine_transform(
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Any:
    """Images whose pixel (x, y) is that of the given one at ``(a0 x + a1 y + a2, b0 x + …) / k``.

    A transform is ``(a0, a1, a2, b0, b1, b2, c0, c1)``, with ``k = c0 x + c1 y + 1``; there is one,
    or one for each image.
    """
    channels_last("keras.ops.image.affine_transform", data_format)
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(f"`interpolation` is 'nearest' or 'bilinear', not {interpolation!r}")
    if fill_mode not in _FILLED:
        raise ValueError(f"`fill_mode` must be one of {tuple(_FILLED)}; got {fill_mode!r}")
    images = tf.convert_to_tensor(images)
    if len(images.shape) == 3:
        alone = affine_transform(images[None], transform, interpolation, fill_mode, fill_value)
        return alone[0]
    count, height, width, _ = images.shape
    matrix = np.float32(tf.convert_to_tensor(transform).numpy())
    a0, a1, a2, b0, b1, b2, c0, c1 = np.broadcast_to(matrix, (count, 8)).T[:, :, None, None]
    y, x = np.mgrid[:height, :width].astype(np.float32)
    scale = c0 * x + c1 * y + np.float32(1)
    filled = _FILLED[fill_mode]
    rows = filled((b0 * x + b1 * y + b2) / scale, height)
    columns = filled((a0 * x + a1 * y + a2) / scale, width)
    if interpolation == "nearest":
        return _pixels(images, _rounded(rows), _rounded(columns), fill_value)
    top, left = np.floor(rows), np.floor(columns)
    down, right = rows - top, columns - left
    parts = [
        (top, left, (1 - down) * (1 - right)),
        (top, left + 1, (1 - down) * right),
        (top + 1, left, down * (1 - right)),
        (top + 1, left + 1, down * right),
    ]
    pixels = [
        _pixels(images, at, along, fill_value) * tf.constant(share[..., None], images.dtype)
        for at, along, share in parts
    ]
    return tf.add_n(pixels)


def _rounded(places: Any) -> Any:
    """The nearest integers, away from 0 in the middle."""
    return np.trunc(places + np.copysign(np.float32(0.5), places))


def _pixels(images: Any, rows: Any, columns: Any, fill_value: float) -> Any:
    """Pixels of each image, and a value for those outside of it."""
    count, height, width, _ = images.shape
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    of = np.broadcast_to(np.arange(count)[:, None, None], rows.shape)
    places = np.stack([of, np.where(inside, rows, 0), np.where(inside, columns, 0)], axis=-1)
    found = tf.gather_nd(images, places.astype(np.int32))
    return tf.where(inside[..., None], found, tf.constant(fill_value, images.dtype))


def _reflected(places: Any, length: int) -> Any:
    """Places in the row that goes on as its mirror image at both ends."""
    if length == 1:
        return np.zeros_like(places)
    within = np.mod(places, np.float32(2 * length))
    within = np.where(within >= length, 2 * length - within - 1, within)
    return np.clip(within, 0, length - 1).astype(np.float32)


def _wrapped(places: Any, length: int) -> Any:
    """Places in the row that begins anew at its ends."""
    if length == 1:
        return np.zeros_like(places)
    last = np.float32(length - 1)
    below = places + length * (np.trunc(-places / last) + 1)
    above = places - length * np.trunc(places / last)
    moved = np.where(places < 0, below, np.where(places > last, above, places))
    return np.clip(moved, 0, last).astype(np.float32)


_FILLED: dict[str, Callable[[Any, int], Any]] = {
    "constant": lambda places, length: places,
    "nearest": lambda places, length: np.clip(places, 0, length - 1),
    "wrap": _wrapped,
    "reflect": _reflected,
}
MADE: dict[str, Callable[..., Any]] = {
    name: getattr(tf.image, name)
    for name in ("hsv_to_rgb", "rgb_to_grayscale", "rgb_to_hsv", "sobel_edges", "ssim")
}
