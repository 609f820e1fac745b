"""Activations as layers."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import activations
from gradwire.tf.keras.configurable import configurable, unset
from gradwire.tf.keras.layers.base import Layer

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax"]


@configurable
class ReLU(Layer):
    """``max(x, 0)``, with a slope below and a greatest value if they are given."""

    supports_masking = True
    max_value: float | None = None
    negative_slope: float = 0.0
    threshold: float = 0.0

    def call(self, inputs: Any) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    """``x`` above 0 and ``negative_slope`` times it below."""

    supports_masking = True

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        slope = kwargs.pop("alpha", negative_slope)  # its name in Keras 2
        super().__init__(**kwargs)
        self.negative_slope: float = slope

    def call(self, inputs: Any) -> Any:
        return tf.nn.leaky_relu(inputs, self.negative_slope)


@configurable
class ELU(Layer):
    """``x`` above 0 and ``alpha (exp(x) - 1)`` below."""

    supports_masking = True
    alpha: float = 1.0

    def call(self, inputs: Any) -> Any:
        return activations.elu(inputs, self.alpha)


@configurable
class PReLU(Layer):
    """``x`` above 0 and a trained slope times it below."""

    supports_masking = True
    alpha_initializer: Any = "zeros"
    alpha_regularizer: Any = None
    alpha_constraint: Any = None
    shared_axes: Any = None
    alpha: Any = unset()

    def __post_init__(self) -> None:
        if self.shared_axes is not None:
            axes = self.shared_axes
            self.shared_axes = [axes] if isinstance(axes, int) else list(axes)

    def build(self, input_shape: Any) -> None:
        shape = list(input_shape[1:])
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self._add("alpha", shape)

    def call(self, inputs: Any) -> Any:
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)


@configurable
class Softmax(Layer):
    """``exp(x)`` divided by its sum along an axis, or several; 0 where a mask leaves it out."""

    supports_masking = True
    axis: Any = -1

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is not None:
            mask = mask if mask.dtype == tf.bool else mask > 0.5
            least = -3e4 if inputs.dtype == tf.float16 else -1e9
            inputs = tf.where(mask, inputs, tf.constant(least, inputs.dtype))
        if isinstance(self.axis, (tuple, list)) and len(self.axis) > 1:
            total = tf.reduce_logsumexp(inputs, axis=list(self.axis), keepdims=True)
            value = tf.exp(inputs - total)
        else:
            axis = self.axis[0] if isinstance(self.axis, (tuple, list)) else self.axis
            value = activations.softmax(inputs, axis=axis)
        return value if mask is None else tf.where(mask, value, tf.zeros((), value.dtype))
