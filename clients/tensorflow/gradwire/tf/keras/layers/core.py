"""Layers without axes of space: dense, activations, and other shapes of the same elements."""

from __future__ import annotations

import math
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras.configurable import configurable, unset
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec

__all__ = ["Activation", "Dense", "Flatten", "Permute", "RepeatVector", "Rescaling", "Reshape"]


@configurable
class Dense(Layer):
    """``activation(x @ kernel + bias)``, along the last axis."""

    supports_masking = True
    units: int
    activation: Any = None
    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None
    kernel: Any = unset()
    bias: Any = unset()

    def __post_init__(self) -> None:
        self.units = int(self.units)
        self.input_spec: Any = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})
        self._add("kernel", (input_shape[-1], self.units))
        if self.use_bias:
            self._add("bias", (self.units,))

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        if not inputs.dtype.is_floating:
            inputs = tf.cast(inputs, self.kernel.dtype)
        rows = inputs if len(shape) == 2 else tf.reshape(inputs, (-1, shape[-1]))
        value = tf.matmul(rows, self.kernel)
        if self.bias is not None:
            value = value + self.bias
        if len(shape) != 2:
            value = tf.reshape(value, (*shape[:-1], self.units))
        return self.activation(value)


@configurable
class Flatten(Layer):
    """All axes but the first in one."""

    data_format: str | None = None

    def __post_init__(self) -> None:
        channels_last("Flatten", self.data_format)
        self.data_format = "channels_last"
        self.input_spec: Any = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        return tf.reshape(inputs, (shape[0], math.prod(shape[1:])))


@configurable
class Reshape(Layer):
    """All axes but the first in others."""

    target_shape: Any

    def __post_init__(self) -> None:
        self.target_shape = tuple(self.target_shape)

    def call(self, inputs: Any) -> Any:
        return tf.reshape(inputs, (inputs.shape[0], *self.target_shape))


@configurable
class Permute(Layer):
    """The axes but the first in another order; they count from 1."""

    dims: Any

    def __post_init__(self) -> None:
        self.dims = tuple(self.dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"`dims` must have each axis from 1 to {len(self.dims)} once, in the new order; "
                f"got {self.dims}"
            )
        self.input_spec: Any = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        return tf.transpose(inputs, (0, *self.dims))


@configurable
class RepeatVector(Layer):
    """Each row ``n`` times, along a new second axis."""

    n: int

    def __post_init__(self) -> None:
        self.input_spec: Any = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(tf.expand_dims(inputs, 1), self.n, axis=1)


@configurable
class Activation(Layer):
    """An activation function."""

    supports_masking = True
    activation: Any

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


@configurable
class Rescaling(Layer):
    """``scale x + offset``."""

    supports_masking = True
    scale: Any
    offset: Any = 0.0

    def call(self, inputs: Any) -> Any:
        return tf.cast(inputs, self.compute_dtype) * self.scale + self.offset
