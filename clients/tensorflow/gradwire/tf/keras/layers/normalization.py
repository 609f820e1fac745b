"""Layers that give their inputs a mean of 0 and a variance of 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import initializers
from gradwire.tf.keras.layers.base import Layer


class LayerNormalization(Layer):
    """``gamma (x - mean) / sqrt(variance + epsilon) + beta``, of each example along ``axis``."""

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis: Any = axis
        self.epsilon: float = epsilon
        self.center: bool = center
        self.scale: bool = scale
        self.beta_initializer: Any = initializers.get(beta_initializer)
        self.gamma_initializer: Any = initializers.get(gamma_initializer)
        self.gamma: Any = None
        self.beta: Any = None

    def _axes(self, ndim: int) -> list[int]:
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        return [axis % ndim for axis in axes]

    def build(self, input_shape: Any) -> None:
        shape = [input_shape[axis] for axis in self._axes(len(input_shape))]
        if self.scale:
            self.gamma = self.add_weight(shape, self.gamma_initializer, name="gamma")
        if self.center:
            self.beta = self.add_weight(shape, self.beta_initializer, name="beta")

    def call(self, inputs: Any) -> Any:
        axes = self._axes(len(inputs.shape))
        value = _standard(inputs, axes, self.epsilon)
        shape = [length if i in axes else 1 for i, length in enumerate(tuple(inputs.shape))]
        return _scaled(value, self.gamma, self.beta, shape)


class RMSNormalization(Layer):
    """``scale x / sqrt(mean(x^2) + epsilon)``, of each example along ``axis``."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis: int = axis
        self.epsilon: float = epsilon
        self.scale: Any = None

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight([input_shape[self.axis]], "ones", name="scale")

    def call(self, inputs: Any) -> Any:
        squares = tf.reduce_mean(tf.square(inputs), axis=self.axis, keepdims=True)
        value = inputs * tf.math.rsqrt(squares + self.epsilon)
        shape = [1] * len(inputs.shape)
        shape[self.axis] = inputs.shape[self.axis]
        return value * tf.reshape(self.scale, shape)


class BatchNormalization(Layer):
    """The same along all axes but ``axis``: by the batch in training, else by moving averages."""

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis: int = axis
        self.momentum: float = momentum
        self.epsilon: float = epsilon
        self.center: bool = center
        self.scale: bool = scale
        # In Keras's order, in which those without a seed draw one.
        beta, gamma, mean, variance = (
            initializers.get(each)
            for each in (
                beta_initializer,
                gamma_initializer,
                moving_mean_initializer,
                moving_variance_initializer,
            )
        )
        self._initializers = (gamma, beta, mean, variance)
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[self.axis],)
        gamma, beta, mean, variance = self._initializers
        if self.scale:
            self.gamma = self.add_weight(shape, gamma, name="gamma")
        if self.center:
            self.beta = self.add_weight(shape, beta, name="beta")
        self.moving_mean = self.add_weight(shape, mean, trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(
            shape, variance, trainable=False, name="moving_variance"
        )

    def call(self, inputs: Any, training: bool = False) -> Any:
        ndim = len(inputs.shape)
        kept = self.axis % ndim
        axes = [axis for axis in range(ndim) if axis != kept]
        shape = [length if i == kept else 1 for i, length in enumerate(tuple(inputs.shape))]
        if training and self.trainable:
            mean, variance = tf.nn.moments(inputs, axes=axes)
            for moving, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(moving * self.momentum + now * (1.0 - self.momentum))
        else:
            mean, variance = self.moving_mean, self.moving_variance
        centred = inputs - tf.reshape(mean, shape)
        value = centred * tf.math.rsqrt(tf.reshape(variance, shape) + self.epsilon)
        return _scaled(value, self.gamma, self.beta, shape)


class UnitNormalization(Layer):
    """``x / |x|``, along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis: int = axis

    def call(self, inputs: Any) -> Any:
        return tf.math.l2_normalize(inputs, axis=self.axis)


def _standard(inputs: Any, axes: Sequence[int], epsilon: float) -> Any:
    mean, variance = tf.nn.moments(inputs, axes=list(axes), keepdims=True)
    return (inputs - mean) * tf.math.rsqrt(variance + epsilon)


def _scaled(value: Any, gamma: Any, beta: Any, shape: Sequence[int]) -> Any:
    if gamma is not None:
        value = value * tf.reshape(gamma, shape)
    return value if beta is None else value + tf.reshape(beta, shape)
