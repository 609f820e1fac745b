"""Layers that give their inputs a mean of 0 and a variance of 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import configurable, unset
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.settings import epsilon

__all__ = [
    "BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization",
    "UnitNormalization",
]  # fmt: skip


class _Scaled(Layer):
    """Weights gamma and beta that scale and shift what has been normalized, in float32 at least."""

    supports_masking = True
    center: bool
    scale: bool
    gamma: Any
    beta: Any

    def _add_scale(self, shape: Sequence[int]) -> None:
        if self.scale:
            self._add("gamma", shape, autocast=False)
        if self.center:
            self._add("beta", shape, autocast=False)

    def _scaled(self, value: Any, shape: Sequence[int]) -> Any:
        """A normalized value, in float32 at least, scaled and shifted, in the layer's dtype."""
        if self.gamma is not None:
            value = value * tf.cast(tf.reshape(self.gamma, shape), value.dtype)
        if self.beta is not None:
            value = value + tf.cast(tf.reshape(self.beta, shape), value.dtype)
        return tf.cast(value, self.compute_dtype)


@configurable
class LayerNormalization(_Scaled):
    """``gamma (x - mean) / sqrt(variance + epsilon) + beta``, of each example along ``axis``."""

    axis: Any = -1
    epsilon: float = 0.001
    center: bool = True
    scale: bool = True
    beta_initializer: Any = "zeros"
    gamma_initializer: Any = "ones"
    beta_regularizer: Any = None
    gamma_regularizer: Any = None
    beta_constraint: Any = None
    gamma_constraint: Any = None
    rms_scaling: bool = False
    gamma: Any = unset()
    beta: Any = unset()

    def __post_init__(self) -> None:
        only("LayerNormalization", rms_scaling=(self.rms_scaling, False))
        self.axis = self.axis if isinstance(self.axis, int) else list(self.axis)
        self.autocast = False

    def _axes(self, ndim: int) -> list[int]:
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        return [axis % ndim for axis in axes]

    def build(self, input_shape: Any) -> None:
        self._add_scale([input_shape[axis] for axis in self._axes(len(input_shape))])

    def call(self, inputs: Any) -> Any:
        axes = self._axes(len(inputs.shape))
        return self._scaled(_standard(inputs, axes, self.epsilon), _along(inputs, axes))


@configurable
class GroupNormalization(_Scaled):
    """The same of each example and group of channels, along all axes but the batch's."""

    groups: int = 32
    axis: int = -1
    epsilon: float = 1e-3
    center: bool = True
    scale: bool = True
    beta_initializer: Any = "zeros"
    gamma_initializer: Any = "ones"
    beta_regularizer: Any = None
    gamma_regularizer: Any = None
    beta_constraint: Any = None
    gamma_constraint: Any = None
    gamma: Any = unset()
    beta: Any = unset()

    def __post_init__(self) -> None:
        self.autocast = False

    def build(self, input_shape: Any) -> None:
        channels = input_shape[self.axis]
        if self.groups == -1:
            self.groups = channels
        if channels < self.groups or channels % self.groups:
            raise ValueError(f"{channels} channels do not split into {self.groups} equal `groups`")
        self.input_spec: Any = InputSpec(ndim=len(input_shape), axes={self.axis: channels})
        self._add_scale((channels,))

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        axis = self.axis % len(shape)
        grouped = [*shape[:axis], self.groups, shape[axis] // self.groups, *shape[axis + 1 :]]
        others = [i for i in range(1, len(grouped)) if i != axis]
        value = _standard(tf.reshape(inputs, grouped), others, self.epsilon)
        return self._scaled(tf.reshape(value, shape), _along(inputs, [axis]))


@configurable
class RMSNormalization(Layer):
    """``scale x / sqrt(mean(x^2) + epsilon)``, of each example along ``axis``."""

    axis: int = -1
    epsilon: float = 1e-6
    scale: Any = unset()

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight([input_shape[self.axis]], "ones", name="scale")

    def call(self, inputs: Any) -> Any:
        value = _single(inputs)
        squares = tf.reduce_mean(tf.square(value), axis=self.axis, keepdims=True)
        value = value * tf.math.rsqrt(squares + self.epsilon)
        scale = tf.reshape(self.scale, _along(inputs, [self.axis % len(inputs.shape)]))
        return tf.cast(value * tf.cast(scale, value.dtype), inputs.dtype)


@configurable
class BatchNormalization(_Scaled):
    """The same along all axes but ``axis``: by the batch in training, else by moving averages.

    Steps that a mask leaves out do not count.
    """

    axis: int = -1
    momentum: float = 0.99
    epsilon: float = 0.001
    center: bool = True
    scale: bool = True
    beta_initializer: Any = "zeros"
    gamma_initializer: Any = "ones"
    moving_mean_initializer: Any = "zeros"
    moving_variance_initializer: Any = "ones"
    beta_regularizer: Any = None
    gamma_regularizer: Any = None
    beta_constraint: Any = None
    gamma_constraint: Any = None
    renorm: bool = False
    renorm_clipping: Any = None
    renorm_momentum: float = 0.99
    synchronized: bool = False  # over devices, of which there is one
    gamma: Any = unset()
    beta: Any = unset()
    moving_mean: Any = unset()
    moving_variance: Any = unset()

    def __post_init__(self) -> None:
        only(
            "BatchNormalization",
            renorm=(self.renorm, False),
            renorm_clipping=(self.renorm_clipping, None),
            renorm_momentum=(self.renorm_momentum, 0.99),
        )

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[self.axis],)
        self.input_spec: Any = InputSpec(ndim=len(input_shape), axes={self.axis: shape[0]})
        self._add_scale(shape)
        for name in ("moving_mean", "moving_variance"):
            first = getattr(self, f"{name}_initializer")
            weight = self.add_weight(shape, first, trainable=False, autocast=False, name=name)
            setattr(self, name, weight)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        kept = self.axis % len(inputs.shape)
        axes = [axis for axis in range(len(inputs.shape)) if axis != kept]
        shape = _along(inputs, [kept])
        inputs = _single(inputs)
        if training and self.trainable:
            mean, variance = _moments(inputs, axes, mask)
            for moving, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
                before = tf.cast(moving, now.dtype)
                moving.assign(before * self.momentum + now * (1.0 - self.momentum))
        else:
            mean, variance = (
                tf.cast(each, inputs.dtype) for each in (self.moving_mean, self.moving_variance)
            )
        centred = inputs - tf.reshape(mean, shape)
        value = centred * tf.math.rsqrt(tf.reshape(variance, shape) + self.epsilon)
        return self._scaled(value, shape)


#: Shorter vectors are divided by its inverse.
_MOST_INVERSE = 1e12


@configurable
class UnitNormalization(Layer):
    """``x / |x|``, along an axis, or several."""

    supports_masking = True
    axis: Any = -1

    def __post_init__(self) -> None:
        self.axis = self.axis if isinstance(self.axis, int) else list(self.axis)

    def call(self, inputs: Any) -> Any:
        inverse = tf.math.rsqrt(tf.reduce_sum(inputs**2, axis=self.axis, keepdims=True))
        return inputs * tf.minimum(inverse, tf.constant(_MOST_INVERSE, inverse.dtype))


def _along(inputs: Any, axes: Sequence[int]) -> list[int]:
    """The lengths of inputs along axes, and 1 along the others."""
    return [length if i in axes else 1 for i, length in enumerate(tuple(inputs.shape))]


def _moments(inputs: Any, axes: Sequence[int], mask: Any) -> tuple[Any, Any]:
    """Mean and variance along axes, of what a mask lets count."""
    if mask is None:
        mean, variance = tf.nn.moments(inputs, axes=list(axes))
        return mean, variance
    if len(mask.shape) != len(inputs.shape) - 1:
        raise ValueError(
            "`mask` must have every axis of the inputs but the last; got shape "
            f"{tuple(mask.shape)} for inputs of {tuple(inputs.shape)}"
        )
    counts = tf.cast(tf.expand_dims(mask, -1), inputs.dtype) * tf.ones_like(inputs)
    total = tf.reduce_sum(counts, axis=axes, keepdims=True) + epsilon()
    mean = tf.reduce_sum(inputs * counts, axis=axes, keepdims=True) / total
    squares = tf.square((inputs - mean) * counts)
    variance = tf.reduce_sum(squares, axis=axes, keepdims=True) / total
    return tf.reshape(mean, (-1,)), tf.reshape(variance, (-1,))


def _single(inputs: Any) -> Any:
    """Inputs in float32 at least, in which they are normalized."""
    return tf.cast(inputs, tf.float32) if inputs.dtype.size < tf.float32.size else inputs


def _standard(inputs: Any, axes: Sequence[int], epsilon: float) -> Any:
    inputs = _single(inputs)
    mean, variance = tf.nn.moments(inputs, axes=list(axes), keepdims=True)
    return (inputs - mean) * tf.math.rsqrt(variance + epsilon)
