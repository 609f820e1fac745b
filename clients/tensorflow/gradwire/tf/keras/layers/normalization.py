"""Layers that give their inputs a mean of 0 and a variance of 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import constraints, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.settings import epsilon


class _Scaled(Layer):
    """Weights gamma and beta that scale and shift what has been normalized."""

    supports_masking = True

    def __init__(
        self,
        center: bool,
        scale: bool,
        beta_initializer: Any,
        gamma_initializer: Any,
        beta_regularizer: Any,
        gamma_regularizer: Any,
        beta_constraint: Any,
        gamma_constraint: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.center: bool = center
        self.scale: bool = scale
        self.beta_initializer: Any = initializers.get(beta_initializer)
        self.gamma_initializer: Any = initializers.get(gamma_initializer)
        self.beta_regularizer: Any = regularizers.get(beta_regularizer)
        self.gamma_regularizer: Any = regularizers.get(gamma_regularizer)
        self.beta_constraint: Any = constraints.get(beta_constraint)
        self.gamma_constraint: Any = constraints.get(gamma_constraint)
        self.gamma: Any = None
        self.beta: Any = None

    def _add_scale(self, shape: Sequence[int]) -> None:
        if self.scale:
            self.gamma = self.add_weight(
                shape,
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                name="gamma",
            )
        if self.center:
            self.beta = self.add_weight(
                shape,
                self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                name="beta",
            )

    def _scaled(self, value: Any, shape: Sequence[int]) -> Any:
        if self.gamma is not None:
            value = value * tf.reshape(self.gamma, shape)
        return value if self.beta is None else value + tf.reshape(self.beta, shape)


class LayerNormalization(_Scaled):
    """``gamma (x - mean) / sqrt(variance + epsilon) + beta``, of each example along ``axis``."""

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        rms_scaling: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        only("LayerNormalization", rms_scaling=(rms_scaling, False))
        super().__init__(
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            **kwargs,
        )
        self.axis: Any = axis if isinstance(axis, int) else list(axis)
        self.epsilon: float = epsilon
        self.rms_scaling: bool = rms_scaling

    def _axes(self, ndim: int) -> list[int]:
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        return [axis % ndim for axis in axes]

    def build(self, input_shape: Any) -> None:
        self._add_scale([input_shape[axis] for axis in self._axes(len(input_shape))])

    def call(self, inputs: Any) -> Any:
        axes = self._axes(len(inputs.shape))
        value = _standard(inputs, axes, self.epsilon)
        shape = [length if i in axes else 1 for i, length in enumerate(tuple(inputs.shape))]
        return self._scaled(value, shape)


class GroupNormalization(_Scaled):
    """The same of each example and group of channels, along all axes but the batch's."""

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            **kwargs,
        )
        self.groups: int = groups
        self.axis: int = axis
        self.epsilon: float = epsilon

    def build(self, input_shape: Any) -> None:
        channels = input_shape[self.axis]
        if self.groups == -1:
            self.groups = channels
        if channels < self.groups or channels % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels "
                f"({channels})."
                if channels % self.groups
                else f"Number of groups ({self.groups}) cannot be more than the number of channels "
                f"({channels})."
            )
        self.input_spec: Any = InputSpec(ndim=len(input_shape), axes={self.axis: channels})
        self._add_scale((channels,))

    def call(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape)
        axis = self.axis % len(shape)
        grouped = [*shape[:axis], self.groups, shape[axis] // self.groups, *shape[axis + 1 :]]
        others = [i for i in range(1, len(grouped)) if i != axis]
        value = _standard(tf.reshape(inputs, grouped), others, self.epsilon)
        kept = [length if i == axis else 1 for i, length in enumerate(shape)]
        return self._scaled(tf.reshape(value, shape), kept)


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


class BatchNormalization(_Scaled):
    """The same along all axes but ``axis``: by the batch in training, else by moving averages.

    Steps that a mask leaves out do not count.
    """

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
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        synchronized: bool = False,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        **kwargs: Any,
    ) -> None:
        only(
            "BatchNormalization",
            renorm=(renorm, False),
            renorm_clipping=(renorm_clipping, None),
            renorm_momentum=(renorm_momentum, 0.99),
        )
        super().__init__(
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            **kwargs,
        )
        self.axis: int = axis
        self.momentum: float = momentum
        self.epsilon: float = epsilon
        self.moving_mean_initializer: Any = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer: Any = initializers.get(moving_variance_initializer)
        self.synchronized: bool = synchronized  # over devices, of which there is one
        self.renorm: bool = renorm
        self.renorm_clipping: Any = renorm_clipping
        self.renorm_momentum: float = renorm_momentum
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[self.axis],)
        self.input_spec: Any = InputSpec(ndim=len(input_shape), axes={self.axis: shape[0]})
        self._add_scale(shape)
        self.moving_mean = self.add_weight(
            shape, self.moving_mean_initializer, trainable=False, name="moving_mean"
        )
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        ndim = len(inputs.shape)
        kept = self.axis % ndim
        axes = [axis for axis in range(ndim) if axis != kept]
        shape = [length if i == kept else 1 for i, length in enumerate(tuple(inputs.shape))]
        if training and self.trainable:
            mean, variance = _moments(inputs, axes, mask)
            for moving, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(moving * self.momentum + now * (1.0 - self.momentum))
        else:
            mean, variance = self.moving_mean, self.moving_variance
        centred = inputs - tf.reshape(mean, shape)
        value = centred * tf.math.rsqrt(tf.reshape(variance, shape) + self.epsilon)
        return self._scaled(value, shape)


#: Shorter vectors are divided by its inverse.
_MOST_INVERSE = 1e12


class UnitNormalization(Layer):
    """``x / |x|``, along an axis, or several."""

    supports_masking = True

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis: Any = axis if isinstance(axis, int) else list(axis)

    def call(self, inputs: Any) -> Any:
        inverse = tf.math.rsqrt(tf.reduce_sum(inputs**2, axis=self.axis, keepdims=True))
        return inputs * tf.minimum(inverse, tf.constant(_MOST_INVERSE, inverse.dtype))


def _moments(inputs: Any, axes: Sequence[int], mask: Any) -> tuple[Any, Any]:
    """Mean and variance along axes, of what a mask lets count."""
    if mask is None:
        mean, variance = tf.nn.moments(inputs, axes=list(axes))
        return mean, variance
    if len(mask.shape) != len(inputs.shape) - 1:
        raise ValueError(
            "The mask provided should be one dimension less than the inputs. Received: "
            f"mask.shape={tuple(mask.shape)}, inputs.shape={tuple(inputs.shape)}"
        )
    counts = tf.cast(tf.expand_dims(mask, -1), inputs.dtype) * tf.ones_like(inputs)
    total = tf.reduce_sum(counts, axis=axes, keepdims=True) + epsilon()
    mean = tf.reduce_sum(inputs * counts, axis=axes, keepdims=True) / total
    squares = tf.square((inputs - mean) * counts)
    variance = tf.reduce_sum(squares, axis=axes, keepdims=True) / total
    return tf.reshape(mean, (-1,)), tf.reshape(variance, (-1,))


def _standard(inputs: Any, axes: Sequence[int], epsilon: float) -> Any:
    mean, variance = tf.nn.moments(inputs, axes=list(axes), keepdims=True)
    return (inputs - mean) * tf.math.rsqrt(variance + epsilon)
