"""Layers that widen, narrow and stretch axes of space, channels last."""

from __future__ import annotations

from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.spatial import Spatial

__all__ = [
    "Cropping1D", "Cropping2D", "Cropping3D", "UpSampling1D", "UpSampling2D", "UpSampling3D",
    "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D",
]  # fmt: skip


class _Bordered(Spatial):
    """A layer with a number before and after each axis of space."""

    def _option(self, name: str, value: Any) -> Any:
        if name in ("padding", "cropping"):
            pairs = _pairs(value, self._rank)
            return pairs[0] if self._rank == 1 else pairs
        return super()._option(name, value)

    def _each(self, value: Any) -> Any:
        return (value,) if self._rank == 1 else value


@configurable
class ZeroPadding(_Bordered):
    """Zeros before and after axes of space."""

    padding: Any = 1
    data_format: str | None = None

    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [[0, 0], *map(list, self._each(self.padding)), [0, 0]])


class ZeroPadding1D(ZeroPadding, rank=1):
    """Zeros before and after an axis of space."""


class ZeroPadding2D(ZeroPadding):
    """Zeros around both axes of space."""


class ZeroPadding3D(ZeroPadding, rank=3):
    """Zeros around all three axes of space."""


class _Cropping(_Bordered):
    """Without some elements at the ends of axes of space."""

    cropping: Any

    def call(self, inputs: Any) -> Any:
        kept = (slice(first, -last or None) for first, last in self._each(self.cropping))
        return inputs[(slice(None), *kept)]


@configurable
class Cropping1D(_Cropping, rank=1):
    """Without some elements at the ends of an axis of space."""

    cropping: Any = 1


@configurable
class Cropping2D(_Cropping):
    """Without some elements at the ends of both axes of space."""

    cropping: Any = 0
    data_format: str | None = None


@configurable
class Cropping3D(_Cropping, rank=3):
    """Without some elements at the ends of all three axes of space."""

    cropping: Any = 1
    data_format: str | None = None


class _UpSampling(Spatial):
    """Each element repeated along axes of space."""

    _lengths: ClassVar[tuple[str, ...]] = ("size",)
    size: Any

    def call(self, inputs: Any) -> Any:
        sizes = (self.size,) if self._rank == 1 else self.size
        for axis, size in enumerate(sizes, 1):
            inputs = tf.repeat(inputs, size, axis=axis)
        return inputs


@configurable
class UpSampling1D(_UpSampling, rank=1):
    """Each element repeated along an axis of space."""

    _lengths = ()
    size: int = 2

    def __post_init__(self) -> None:
        self.size = int(self.size)


@configurable
class UpSampling2D(_UpSampling):
    """Each element repeated along both axes of space."""

    size: Any = 2
    data_format: str | None = None
    interpolation: str = "nearest"

    def __post_init__(self) -> None:
        only("UpSampling2D", interpolation=(self.interpolation, "nearest"))


@configurable
class UpSampling3D(_UpSampling, rank=3):
    """Each element repeated along all three axes of space."""

    size: Any = 2
    data_format: str | None = None


def _pairs(value: Any, count: int) -> tuple[tuple[int, int], ...]:
    """A number before and after each axis: one for all, one for each, or two for each."""
    if isinstance(value, int):
        return ((value, value),) * count
    if count == 1:
        first, last = value
        return ((int(first), int(last)),)
    if len(value) != count:
        raise ValueError(f"{count} elements are needed, one for each axis; got {value}")
    return tuple((each, each) if isinstance(each, int) else (each[0], each[1]) for each in value)
