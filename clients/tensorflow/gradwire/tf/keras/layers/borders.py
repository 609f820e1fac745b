"""Layers that widen, narrow and stretch axes of space, channels last."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.convolution import lengths
from gradwire.tf.keras.layers.specs import InputSpec


class Padding(Layer):
    """Zeros before and after axes of space."""

    _rank: int = 1

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.input_spec: Any = InputSpec(ndim=self._rank + 2)
        pairs = _pairs(padding, self._rank)
        self.padding: Any = pairs[0] if self._rank == 1 else pairs
        self.data_format: str = "channels_last"
        self._pairs = pairs

    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [[0, 0], *map(list, self._pairs), [0, 0]])


class ZeroPadding1D(Padding):
    """Zeros before and after an axis of space."""


class ZeroPadding2D(Padding):
    """Zeros around both axes of space."""

    _rank = 2


class ZeroPadding3D(Padding):
    """Zeros around all three axes of space."""

    _rank = 3


class Cropping1D(Layer):
    """Without some elements at the ends of an axis of space."""

    def __init__(self, cropping: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.input_spec: Any = InputSpec(ndim=3)
        self.cropping: Any = _pairs(cropping, 1)[0]

    def call(self, inputs: Any) -> Any:
        return _cropped(inputs, (self.cropping,))


class Cropping2D(Layer):
    """Without some elements at the ends of both axes of space."""

    _rank: int = 2

    def __init__(self, cropping: Any = 0, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.input_spec: Any = InputSpec(ndim=self._rank + 2)
        self.cropping: tuple[tuple[int, int], ...] = _pairs(cropping, self._rank)
        self.data_format: str = "channels_last"

    def call(self, inputs: Any) -> Any:
        return _cropped(inputs, self.cropping)


class Cropping3D(Cropping2D):
    """Without some elements at the ends of all three axes of space."""

    _rank = 3

    def __init__(self, cropping: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling1D(Layer):
    """Each element repeated along an axis of space."""

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.input_spec: Any = InputSpec(ndim=3)
        self.size: int = int(size)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(inputs, self.size, axis=1)


class UpSampling2D(Layer):
    """Each element repeated along both axes of space."""

    def __init__(
        self,
        size: Any = 2,
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        only("UpSampling2D", interpolation=(interpolation, "nearest"))
        channels_last("UpSampling2D", data_format)
        super().__init__(**kwargs)
        self.input_spec: Any = InputSpec(ndim=4)
        self.size: tuple[int, ...] = lengths(size, 2)
        self.data_format: str = "channels_last"
        self.interpolation: str = interpolation

    def call(self, inputs: Any) -> Any:
        return tf.repeat(tf.repeat(inputs, self.size[0], axis=1), self.size[1], axis=2)


class UpSampling3D(Layer):
    """Each element repeated along all three axes of space."""

    def __init__(self, size: Any = 2, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last("UpSampling3D", data_format)
        self.input_spec: Any = InputSpec(ndim=5)
        self.size: tuple[int, ...] = lengths(size, 3)
        self.data_format: str = "channels_last"

    def call(self, inputs: Any) -> Any:
        for axis, size in enumerate(self.size, 1):
            inputs = tf.repeat(inputs, size, axis=axis)
        return inputs


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


def _cropped(inputs: Any, cropping: tuple[tuple[int, int], ...]) -> Any:
    return inputs[(slice(None), *(slice(first, -last or None) for first, last in cropping))]
