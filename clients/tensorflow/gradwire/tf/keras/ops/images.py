"""Keras's operations on images, ``keras.ops.image``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


MADE: dict[str, Callable[..., Any]] = {
    name: getattr(tf.image, name)
    for name in ("hsv_to_rgb", "rgb_to_grayscale", "rgb_to_hsv", "sobel_edges", "ssim")
}
