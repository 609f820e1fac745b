"""What windows along axes of space come to, channels last."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.convolution import lengths
from gradwire.tf.keras.layers.specs import InputSpec


class Pooling(Layer):
    """The greatest or the mean of each window."""

    _rank: int = 2
    _type: str = "MAX"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.input_spec: Any = InputSpec(ndim=self._rank + 2)
        self.pool_size: tuple[int, ...] = lengths(pool_size, self._rank)
        self.strides: tuple[int, ...] = lengths(
            self.pool_size if strides is None else strides, self._rank
        )
        self.padding: str = padding.lower()
        self.data_format: str = "channels_last"

    def call(self, inputs: Any) -> Any:
        return tf.nn.pool(
            inputs,
            list(self.pool_size),
            self._type,
            strides=list(self.strides),
            padding=self.padding.upper(),
        )


class MaxPooling1D(Pooling):
    """The greatest of each window along one axis."""

    _rank = 1


class MaxPooling2D(Pooling):
    """The greatest of each window along two axes."""


class MaxPooling3D(Pooling):
    """The greatest of each window along three axes."""

    _rank = 3


class AveragePooling1D(Pooling):
    """The mean of each window along one axis."""

    _rank, _type = 1, "AVG"


class AveragePooling2D(Pooling):
    """The mean of each window along two axes."""

    _type = "AVG"


class AveragePooling3D(Pooling):
    """The mean of each window along three axes."""

    _rank, _type = 3, "AVG"


class GlobalPooling(Layer):
    """The greatest or the mean along all axes of space."""

    _rank: int = 2
    _mean: bool = True

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.input_spec: Any = InputSpec(ndim=self._rank + 2)
        self.data_format: str = "channels_last"
        self.keepdims: bool = keepdims

    def call(self, inputs: Any) -> Any:
        reduced = tf.reduce_mean if self._mean else tf.reduce_max
        axes = list(range(1, self._rank + 1))
        return reduced(inputs, axis=axes, keepdims=self.keepdims)


class GlobalAveragePooling1D(GlobalPooling):
    """The mean along the axis of time, of the steps that a mask lets count."""

    _rank = 1
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return super().call(inputs)
        weights = tf.expand_dims(tf.cast(mask, inputs.dtype), 2)
        total = tf.reduce_sum(inputs * weights, axis=1, keepdims=self.keepdims)
        return total / tf.reduce_sum(weights, axis=1, keepdims=self.keepdims)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        del inputs, mask  # no axis of time is left
        return None


class GlobalAveragePooling2D(GlobalPooling):
    """The mean along both axes of space."""


class GlobalAveragePooling3D(GlobalPooling):
    """The mean along all three axes of space."""

    _rank = 3


class GlobalMaxPooling1D(GlobalPooling):
    """The greatest along the axis of space."""

    _rank, _mean = 1, False


class GlobalMaxPooling2D(GlobalPooling):
    """The greatest along both axes of space."""

    _mean = False


class GlobalMaxPooling3D(GlobalPooling):
    """The greatest along all three axes of space."""

    _rank, _mean = 3, False
