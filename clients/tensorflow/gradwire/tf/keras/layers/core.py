"""Layers without axes of space: dense, embedding, reshaping, dropout, activations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import activations, constraints, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.seeds import generator


class Dense(Layer):
    """``activation(x @ kernel + bias)``, along the last axis."""

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
        self.input_spec = InputSpec(min_ndim=2)

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


class Embedding(Layer):
    """The rows of a table by integers."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("input_length", None)  # Keras takes it and does not use it
        only("Embedding", mask_zero=(mask_zero, False))
        super().__init__(**kwargs)
        self.input_dim: int = input_dim
        self.output_dim: int = output_dim
        self.mask_zero: bool = mask_zero
        self.embeddings: Any = self.add_weight(
            (input_dim, output_dim),
            embeddings_initializer,
            regularizer=embeddings_regularizer,
            constraint=constraints.get(embeddings_constraint),
            name="embeddings",
        )
        object.__setattr__(self, "built", True)

    def call(self, inputs: Any) -> Any:
        ids = inputs if inputs.dtype.is_integer else tf.cast(inputs, tf.int32)
        return tf.gather(self.embeddings, ids)


class Flatten(Layer):
    """All axes but the first in one."""

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

    def call(self, inputs: Any) -> Any:
        return tf.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    """Each row ``n`` times, along a new second axis."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n: int = n

    def call(self, inputs: Any) -> Any:
        return tf.repeat(tf.expand_dims(inputs, 1), self.n, axis=1)


class Activation(Layer):
    """An activation function."""

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation: Any = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class ReLU(Layer):
    """``max(x, 0)``, with a slope below and a greatest value if they are given."""

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.max_value: float | None = max_value
        self.negative_slope: float = negative_slope

    def call(self, inputs: Any) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value)


class LeakyReLU(Layer):
    """``x`` above 0 and ``negative_slope`` times it below."""

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        slope = kwargs.pop("alpha", negative_slope)  # its name in Keras 2
        super().__init__(**kwargs)
        self.negative_slope: float = slope

    def call(self, inputs: Any) -> Any:
        return tf.nn.leaky_relu(inputs, self.negative_slope)


class ELU(Layer):
    """``x`` above 0 and ``alpha (exp(x) - 1)`` below."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha: float = alpha

    def call(self, inputs: Any) -> Any:
        return activations.elu(inputs, self.alpha)


class PReLU(Layer):
    """``x`` above 0 and a trained slope times it below."""

    def __init__(self, alpha_initializer: Any = "zeros", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer: Any = alpha_initializer
        self.alpha: Any = None

    def build(self, input_shape: Any) -> None:
        self.alpha = self.add_weight(input_shape[1:], self.alpha_initializer, name="alpha")

    def call(self, inputs: Any) -> Any:
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)


class Softmax(Layer):
    """``exp(x)`` divided by its sum along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis: int = axis

    def call(self, inputs: Any) -> Any:
        return tf.nn.softmax(inputs, axis=self.axis)


class Dropout(Layer):
    """In training, zeros for a share of elements, the others scaled up; else the input."""

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value received for argument `rate`. Expected a float value between 0 "
                f"and 1. Received: rate={rate}"
            )
        self.rate: float = rate
        self.noise_shape: Any = noise_shape
        self.seed: int | None = seed
        self._drawn: np.random.Generator = generator(seed)

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        shape = tuple(inputs.shape) if self.noise_shape is None else tuple(self.noise_shape)
        kept = self._drawn.uniform(size=shape) >= self.rate
        scale = 0.0 if self.rate == 1 else 1.0 / (1.0 - self.rate)
        mask = (kept * scale).astype(inputs.dtype.as_numpy_dtype)
        return inputs * tf.constant(mask)


class GaussianNoise(Layer):
    """In training, normally distributed noise added."""

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev: float = stddev
        self._drawn: np.random.Generator = generator(seed)

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training:
            return inputs
        noise = self._drawn.normal(0.0, self.stddev, tuple(inputs.shape))
        return inputs + tf.constant(noise.astype(inputs.dtype.as_numpy_dtype))


class Rescaling(Layer):
    """``scale x + offset``."""

    def __init__(self, scale: float, offset: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale: float = scale
        self.offset: float = offset

    def call(self, inputs: Any) -> Any:
        return inputs * self.scale + self.offset
