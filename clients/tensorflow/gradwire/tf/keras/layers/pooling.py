"""Pooling: the greatest or the mean of windows along axes of space, channels last."""

from __future__ import annotations

from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.spatial import Spatial, lengths

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "AvgPool1D", "AvgPool2D",
    "AvgPool3D", "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D",
    "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D",
    "GlobalMaxPool3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D",
    "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D",
]  # fmt: skip


@configurable
class MaxPooling(Spatial):
    """The greatest of each window."""

    _type: ClassVar[str] = "MAX"
    _lengths = ("pool_size",)
    pool_size: Any = 2
    strides: Any = None
    padding: str = "valid"
    data_format: str | None = None

    def __post_init__(self) -> None:
        self.strides = lengths(self.pool_size if self.strides is None else self.strides, self._rank)

    def call(self, inputs: Any) -> Any:
        return tf.nn.pool(
            inputs,
            list(self.pool_size),
            self._type,
            strides=list(self.strides),
            padding=self.padding.upper(),
        )


class MaxPooling1D(MaxPooling, rank=1):
    """The greatest of each window along one axis."""


class MaxPooling2D(MaxPooling):
    """The greatest of each window along two axes."""


class MaxPooling3D(MaxPooling, rank=3):
    """The greatest of each window along three axes."""


class AveragePooling(MaxPooling):
    """The mean of each window."""

    _type = "AVG"


class AveragePooling1D(AveragePooling, rank=1):
    """The mean of each window along one axis."""


class AveragePooling2D(AveragePooling):
    """The mean of each window along two axes."""


class AveragePooling3D(AveragePooling, rank=3):
    """The mean of each window along three axes."""


@configurable
class GlobalMaxPooling(Spatial):
    """The greatest along all axes of space."""

    _reduced: ClassVar[Any] = staticmethod(tf.reduce_max)
    data_format: str | None = None
    keepdims: bool = False

    def call(self, inputs: Any) -> Any:
        return self._reduced(inputs, axis=list(range(1, self._rank + 1)), keepdims=self.keepdims)


class GlobalMaxPooling1D(GlobalMaxPooling, rank=1):
    """The greatest along the axis of space."""


class GlobalMaxPooling2D(GlobalMaxPooling):
    """The greatest along both axes of space."""


class GlobalMaxPooling3D(GlobalMaxPooling, rank=3):
    """The greatest along all three axes of space."""


class GlobalAveragePooling(GlobalMaxPooling):
    """The mean along all axes of space."""

    _reduced = staticmethod(tf.reduce_mean)


class GlobalAveragePooling1D(GlobalAveragePooling, rank=1):
    """The mean along the axis of time, of the steps that a mask lets count."""

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


class GlobalAveragePooling2D(GlobalAveragePooling):
    """The mean along both axes of space."""


class GlobalAveragePooling3D(GlobalAveragePooling, rank=3):
    """The mean along all three axes of space."""


#: Keras's other names for these.
MaxPool1D = MaxPooling1D
AvgPool1D = AveragePooling1D
GlobalAvgPool1D = GlobalAveragePooling1D
GlobalMaxPool1D = GlobalMaxPooling1D
MaxPool2D = MaxPooling2D
AvgPool2D = AveragePooling2D
GlobalAvgPool2D = GlobalAveragePooling2D
GlobalMaxPool2D = GlobalMaxPooling2D
MaxPool3D = MaxPooling3D
AvgPool3D = AveragePooling3D
GlobalAvgPool3D = GlobalAveragePooling3D
GlobalMaxPool3D = GlobalMaxPooling3D
