"""Layers without axes of space: dense, activations, and other shapes of the same elements."""

from __future__ import annotations

import math
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras import activations, constraints, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec


class Dense(Layer):
    """``activation(x @ kernel + bias)``, along the last axis."""

    supports_masking = True

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units: int = int(units)
        self.activation: Any = activations.get(activation)
        self.use_bias: bool = use_bias
        self.kernel_initializer: Any = initializers.get(kernel_initializer)
        self.bias_initializer: Any = initializers.get(bias_initializer)
        self.kernel_regularizer: Any = regularizers.get(kernel_regularizer)
        self.bias_regularizer: Any = regularizers.get(bias_regularizer)
        self.kernel_constraint: Any = constraints.get(kernel_constraint)
        self.bias_constraint: Any = constraints.get(bias_constraint)
        self.kernel: Any = None
        self.bias: Any = None
        self.input_spec: Any = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})
        self.kernel = self.add_weight(
            (input_shape[-1], self.units),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )

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


class Flatten(Layer):
    """All axes but the first in one."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last("Flatten", data_format)
        self.input_spec: Any = InputSpec(min_ndim=1)
        self.data_format: str = "channels_last"

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        return tf.reshape(inputs, (shape[0], math.prod(shape[1:])))


class Reshape(Layer):
    """All axes but the first in others."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape: tuple[int, ...] = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        return tf.reshape(inputs, (inputs.shape[0], *self.target_shape))


class Permute(Layer):
    """The axes but the first in another order; they count from 1."""

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims: tuple[int, ...] = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in "
                f"`dims` must be consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec: Any = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        return tf.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    """Each row ``n`` times, along a new second axis."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n: int = n
        self.input_spec: Any = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(tf.expand_dims(inputs, 1), self.n, axis=1)


class Activation(Layer):
    """An activation function."""

    supports_masking = True

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation: Any = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class Rescaling(Layer):
    """``scale x + offset``."""

    supports_masking = True

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale: Any = scale
        self.offset: Any = offset

    def call(self, inputs: Any) -> Any:
        inputs = tf.cast(inputs, self._dtype)
        return inputs * self.scale + self.offset
