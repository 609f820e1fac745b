"""Convolutions of each channel by itself, and those followed by a mixture of channels."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras import activations, constraints, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.convolution import lengths
from gradwire.tf.keras.layers.specs import InputSpec


class DepthwiseConvolution(Layer):
    """``activation(convolution(x, kernel) + bias)``, ``depth_multiplier`` filters a channel."""

    _rank: int = 2

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        channels_last(type(self).__name__, data_format)
        self.input_spec: Any = InputSpec(min_ndim=self._rank + 2)
        self.kernel_size: tuple[int, ...] = lengths(kernel_size, self._rank)
        self.strides: tuple[int, ...] = lengths(strides, self._rank)
        self.padding: str = padding.lower()
        self.depth_multiplier: int = depth_multiplier
        self.data_format: str = "channels_last"
        self.dilation_rate: tuple[int, ...] = lengths(dilation_rate, self._rank)
        self.activation: Any = activations.get(activation)
        self.use_bias: bool = use_bias
        self.depthwise_initializer: Any = initializers.get(depthwise_initializer)
        self.bias_initializer: Any = initializers.get(bias_initializer)
        self.depthwise_regularizer: Any = regularizers.get(depthwise_regularizer)
        self.bias_regularizer: Any = regularizers.get(bias_regularizer)
        self.depthwise_constraint: Any = constraints.get(depthwise_constraint)
        self.bias_constraint: Any = constraints.get(bias_constraint)
        self.kernel: Any = None
        self.bias: Any = None

    def _add_kernel(self, channels: int, name: str) -> Any:
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: channels})
        return self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier),
            self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
            name=name,
        )

    def _add_bias(self, length: int) -> None:
        if self.use_bias:
            self.bias = self.add_weight(
                (length,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )

    def build(self, input_shape: Any) -> None:
        self.kernel = self._add_kernel(input_shape[-1], "kernel")
        self._add_bias(input_shape[-1] * self.depth_multiplier)

    def _depthwise(self, inputs: Any, kernel: Any) -> Any:
        """Convolutions of each channel; along one axis, those of images of one row."""
        one = self._rank == 1
        strides = [1, *(self.strides * 2 if one else self.strides), 1]
        value = tf.nn.depthwise_conv2d(
            tf.expand_dims(inputs, 1) if one else inputs,
            tf.expand_dims(kernel, 0) if one else kernel,
            strides=strides,
            padding=self.padding.upper(),
            dilations=[1, *self.dilation_rate] if one else list(self.dilation_rate),
        )
        return tf.squeeze(value, [1]) if one else value

    def call(self, inputs: Any) -> Any:
        value = self._depthwise(inputs, self.kernel)
        return self.activation(value if self.bias is None else value + self.bias)


class DepthwiseConv1D(DepthwiseConvolution):
    """A convolution of each channel along one axis."""

    _rank = 1


class DepthwiseConv2D(DepthwiseConvolution):
    """A convolution of each channel along two axes."""

    _rank = 2


class SeparableConvolution(DepthwiseConvolution):
    """A convolution of each channel, then ``filters`` mixtures of all at each place."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            kernel_size,
            strides,
            padding,
            depth_multiplier,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            depthwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            bias_constraint,
            **kwargs,
        )
        self.filters: int = filters
        self.pointwise_initializer: Any = initializers.get(pointwise_initializer)
        self.pointwise_regularizer: Any = regularizers.get(pointwise_regularizer)
        self.pointwise_constraint: Any = constraints.get(pointwise_constraint)
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def build(self, input_shape: Any) -> None:
        channels = input_shape[-1]
        self.depthwise_kernel = self._add_kernel(channels, "depthwise_kernel")
        self.pointwise_kernel = self.add_weight(
            (*(1,) * self._rank, self.depth_multiplier * channels, self.filters),
            self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
            name="pointwise_kernel",
        )
        self._add_bias(self.filters)

    def call(self, inputs: Any) -> Any:
        value = self._depthwise(inputs, self.depthwise_kernel)
        value = tf.nn.convolution(value, self.pointwise_kernel)
        return self.activation(value if self.bias is None else value + self.bias)


class SeparableConv1D(SeparableConvolution):
    """A convolution of each channel along one axis, then mixtures of channels."""

    _rank = 1


class SeparableConv2D(SeparableConvolution):
    """A convolution of each channel along two axes, then mixtures of channels."""

    _rank = 2
