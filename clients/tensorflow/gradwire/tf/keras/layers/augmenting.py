"""Layers that change images at random in training."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import random
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.images import Pictured, cropped, middle
from gradwire.tf.keras.ops.images import affine_transform
from gradwire.tf.keras.seeds import SeedGenerator

__all__ = [
    "RandomBrightness", "RandomContrast", "RandomCrop", "RandomFlip", "RandomRotation",
    "RandomTranslation", "RandomZoom",
]  # fmt: skip


class _Changing(Pictured):
    """A layer that draws how it changes each image, and in inference changes none."""

    #: The least and the largest factor that is possible.
    _bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    #: The parameters that are factors.
    _factors: ClassVar[tuple[str, ...]] = ()
    seed: int | None
    data_format: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._ranges: dict[str, tuple[float, float]] = {
            name: self._range(name, getattr(self, name)) for name in self._factors
        }
        self.generator: SeedGenerator = SeedGenerator(self.seed)

    def _range(self, name: str, factor: Any) -> tuple[float, float]:
        """The factors from which one is drawn: from -factor to factor, or those between two."""
        least, most = self._bounds
        one = isinstance(factor, (int, float))
        pair = (-abs(factor), abs(factor)) if one else tuple(sorted(factor))
        if len(pair) != 2 or pair[1] > most or (not one and pair[0] < least):
            raise ValueError(
                f"`{name}` must be one number or a pair, from {least} to {most}; got {factor}"
            )
        return max(pair[0], least), pair[1]

    def call(self, inputs: Any, training: bool = True) -> Any:
        images = tf.cast(self._images(inputs), self.compute_dtype)
        if not training:
            return images
        if len(images.shape) == 3:
            return self._changed(images[None])[0]
        return self._changed(images)

    def _changed(self, images: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must have a method _changed")

    def _drawn(self, shape: Any, least: float, most: float) -> Any:
        return random.uniform(shape, least, most, seed=self.generator)


@configurable
class RandomFlip(_Changing):
    """Half of the images as their mirror images."""

    mode: str = "horizontal_and_vertical"
    seed: int | None = None
    data_format: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(f"RandomFlip has no mode {self.mode!r}")

    def _changed(self, images: Any) -> Any:
        flips = self._drawn((images.shape[0], 1, 1, 1), 0.0, 1.0) <= 0.5
        for way, axis in (("horizontal", 2), ("vertical", 1)):
            if way in self.mode:
                images = tf.where(flips, tf.reverse(images, [axis]), images)
        return images


class _Moving(_Changing):
    """A layer that moves pixels, and fills those that come from outside."""

    fill_mode: str
    interpolation: str
    fill_value: float

    def _changed(self, images: Any) -> Any:
        height, width = (np.float32(each) for each in images.shape[1:3])
        return affine_transform(
            images,
            self._matrix(images.shape[0], height, width),
            self.interpolation,
            self.fill_mode,
            self.fill_value,
        )

    def _matrix(self, count: int, height: Any, width: Any) -> Any:
        """The transform of each image."""
        raise NotImplementedError(f"{type(self).__name__} must have a method _matrix")

    def _number(self, name: str, count: int, offset: float = 0.0) -> Any:
        """A factor for each image."""
        least, most = self._ranges[name]
        return self._drawn((count, 1), least + offset, most + offset).numpy()[:, 0]


@configurable
class RandomRotation(_Moving):
    """Images turned about their middle, by a share of a full turn."""

    _factors = ("factor",)
    factor: Any
    fill_mode: str = "reflect"
    interpolation: str = "bilinear"
    seed: int | None = None
    fill_value: float = 0.0
    data_format: Any = None

    def _matrix(self, count: int, height: Any, width: Any) -> Any:
        least, most = self._ranges["factor"]
        degrees = self._drawn((count,), least * 360.0, most * 360.0).numpy()
        angle = degrees * np.float32(math.pi / 180.0)
        x, y = np.float32(0.5) * (width - 1), np.float32(0.5) * (height - 1)
        cos, sin = np.cos(angle), np.sin(angle)
        return _transform(cos, -sin, x - x * cos + y * sin, sin, cos, y - x * sin - y * cos)


@configurable
class RandomZoom(_Moving):
    """Images seen from nearer or farther; a factor below 0 is nearer."""

    _factors = ("height_factor", "width_factor")
    height_factor: Any
    width_factor: Any = None
    fill_mode: str = "reflect"
    interpolation: str = "bilinear"
    seed: int | None = None
    fill_value: float = 0.0
    data_format: Any = None

    def _range(self, name: str, factor: Any) -> tuple[float, float]:
        return (0.0, 0.0) if factor is None else super()._range(name, factor)

    def _matrix(self, count: int, height: Any, width: Any) -> Any:
        down = right = self._number("height_factor", count, 1.0)
        if self.width_factor is not None:
            right = self._number("width_factor", count, 1.0)
        x, y = ((length - 1) / np.float32(2) for length in (width, height))
        nothing = np.zeros_like(down)
        return _transform(right, nothing, x * (1 - right), nothing, down, y * (1 - down))


@configurable
class RandomTranslation(_Moving):
    """Images moved by a share of their height and of their width."""

    _factors = ("height_factor", "width_factor")
    height_factor: Any
    width_factor: Any
    fill_mode: str = "reflect"
    interpolation: str = "bilinear"
    seed: int | None = None
    fill_value: float = 0.0
    data_format: Any = None

    def _matrix(self, count: int, height: Any, width: Any) -> Any:
        down = self._number("height_factor", count) * height
        right = self._number("width_factor", count) * width
        one, nothing = np.ones_like(down), np.zeros_like(down)
        return _transform(one, nothing, -right, nothing, one, -down)


@configurable
class _Shading(_Changing):
    """A layer that changes values by a factor of their range."""

    _factors = ("factor",)
    factor: Any
    value_range: Any = (0, 255)
    seed: int | None = None


class RandomContrast(_Shading):
    """Images whose distances from the mean of each channel are larger or smaller."""

    _bounds = (0.0, 1.0)

    def _changed(self, images: Any) -> Any:
        less, more = self._ranges["factor"]
        factor = self._drawn((images.shape[0], 1, 1, 1), 1.0 - less, 1.0 + more)
        mean = tf.reduce_mean(tf.reduce_mean(images, axis=1, keepdims=True), 2, keepdims=True)
        changed = (images - mean) * tf.cast(factor, images.dtype) + mean
        return tf.clip_by_value(changed, float(self.value_range[0]), float(self.value_range[1]))


class RandomBrightness(_Shading):
    """Images that are lighter or darker, by a share of the range of values."""

    def _changed(self, images: Any) -> Any:
        least, most = (float(each) for each in sorted(self.value_range))
        change = self._drawn((images.shape[0], 1, 1, 1), *self._ranges["factor"]) * (most - least)
        return tf.clip_by_value(images + tf.cast(change, images.dtype), least, most)


@configurable
class RandomCrop(_Changing):
    """A part of images, the same of all, made larger where it is too small."""

    height: int
    width: int
    seed: int | None = None
    data_format: Any = None

    def _changed(self, images: Any) -> Any:
        down, right = images.shape[1] - self.height, images.shape[2] - self.width
        if down > 0 and right > 0:
            top, left = (int(self._drawn((), 0.0, float(each + 1))) for each in (down, right))
        else:
            top, left, _, _ = middle(images, self.height, self.width)
        part = cropped(images, top, left, self.height, self.width)
        if part.shape[1:3] == (self.height, self.width):
            return part
        return tf.image.resize(part, (self.height, self.width))


def _transform(*numbers: Any) -> Any:
    """Transforms of their first six numbers, each an array of one for each image."""
    return np.stack([*numbers, *[np.zeros_like(numbers[0])] * 2], axis=-1)
