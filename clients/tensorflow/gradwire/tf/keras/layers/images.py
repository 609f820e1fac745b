"""Layers that give images another size."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.base import Layer

__all__ = ["CenterCrop", "Resizing"]


class Pictured(Layer):
    """A layer of one image or of a batch."""

    data_format: Any

    def __post_init__(self) -> None:
        channels_last(type(self).__name__, self.data_format)
        self.data_format = "channels_last"

    def _images(self, inputs: Any) -> Any:
        """Images as a tensor."""
        only(type(self).__name__, data=("a dictionary" if isinstance(inputs, dict) else None, None))
        images = tf.convert_to_tensor(inputs)
        if len(images.shape) not in (3, 4):
            raise ValueError(
                "An image has 3 axes and a batch of images 4; "
                f"got a tensor of shape {tuple(images.shape)}"
            )
        return images


@configurable
class Resizing(Pictured):
    """Images of a height and a width; of a part, or with a border, where their shape is kept."""

    height: int
    width: int
    interpolation: str = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: bool = False
    fill_mode: str = "constant"
    fill_value: float = 0.0
    antialias: bool = False
    data_format: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        only("Resizing", pad_to_aspect_ratio=(self.pad_to_aspect_ratio, False))
        only("Resizing", fill_mode=(self.fill_mode, "constant"))

    def call(self, inputs: Any) -> Any:
        images = self._images(inputs)
        if self.crop_to_aspect_ratio:
            images = cropped(images, *middle(images, self.height, self.width))
        size = (self.height, self.width)
        sized = tf.image.resize(images, size, self.interpolation, antialias=self.antialias)
        if sized.dtype == images.dtype:
            return sized
        return tf.saturate_cast(tf.round(sized) if images.dtype.is_integer else sized, images.dtype)


@configurable
class CenterCrop(Pictured):
    """The middle of images, made larger first where they are too small."""

    height: int
    width: int
    data_format: Any = None

    def call(self, inputs: Any) -> Any:
        images = tf.cast(self._images(inputs), self.compute_dtype)
        lengths: Any = images.shape
        down, right = lengths[-3] - self.height, lengths[-2] - self.width
        if down >= 0 and right >= 0:
            return cropped(images, down // 2, right // 2, self.height, self.width)
        part = cropped(images, *middle(images, self.height, self.width))
        return tf.image.resize(part, (self.height, self.width))


def cropped(images: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of images."""
    return images[..., top : top + height, left : left + width, :]


def middle(images: Any, height: int, width: int) -> tuple[int, int, int, int]:
    """Top, left, height and width of the largest middle part with the ratio of two lengths."""
    own_height, own_width = images.shape[-3], images.shape[-2]
    down = max(min(own_height, int(float(own_width * height) / width)), 1)
    right = max(min(own_width, int(float(own_height * width) / height)), 1)
    return (own_height - down) // 2, (own_width - right) // 2, down, right
