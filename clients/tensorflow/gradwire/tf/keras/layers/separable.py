"""Convolutions of each channel by itself, and those followed by a mixture of channels."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable, unset
from gradwire.tf.keras.layers.convolution import Convolving

__all__ = [
    "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D",
    "SeparableConvolution1D", "SeparableConvolution2D",
]  # fmt: skip


class _Depthwise(Convolving):
    """Convolutions of each channel, ``depth_multiplier`` filters of it."""

    _of = "depthwise"
    depth_multiplier: int

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels, self.depth_multiplier)

    def _channels(self, channels: int) -> int:
        return channels * self.depth_multiplier

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

    def convolved(self, inputs: Any) -> Any:
        return self._depthwise(inputs, self.kernel)


@configurable
class DepthwiseConvolution(_Depthwise):
    """A convolution of each channel."""

    kernel_size: Any
    strides: Any = 1
    padding: str = "valid"
    depth_multiplier: int = 1
    data_format: str | None = None
    dilation_rate: Any = 1
    activation: Any = None
    use_bias: bool = True
    depthwise_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    depthwise_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    depthwise_constraint: Any = None
    bias_constraint: Any = None


class DepthwiseConv1D(DepthwiseConvolution, rank=1):
    """A convolution of each channel along one axis."""


class DepthwiseConv2D(DepthwiseConvolution):
    """A convolution of each channel along two axes."""


@configurable
class SeparableConvolution(_Depthwise):
    """A convolution of each channel, then ``filters`` mixtures of all at each place."""

    filters: int
    kernel_size: Any
    strides: Any = 1
    padding: str = "valid"
    data_format: str | None = None
    dilation_rate: Any = 1
    depth_multiplier: int = 1
    activation: Any = None
    use_bias: bool = True
    depthwise_initializer: Any = "glorot_uniform"
    pointwise_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    depthwise_regularizer: Any = None
    pointwise_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    depthwise_constraint: Any = None
    pointwise_constraint: Any = None
    bias_constraint: Any = None
    depthwise_kernel: Any = unset()
    pointwise_kernel: Any = unset()

    def _channels(self, channels: int) -> int:
        return self.filters

    def _add_kernels(self, channels: int) -> None:
        self._add("depthwise_kernel", self._kernel_shape(channels), "depthwise")
        mixed = (*(1,) * self._rank, self.depth_multiplier * channels, self.filters)
        self._add("pointwise_kernel", mixed, "pointwise")

    def convolved(self, inputs: Any) -> Any:
        return tf.nn.convolution(
            self._depthwise(inputs, self.depthwise_kernel), self.pointwise_kernel
        )


class SeparableConv1D(SeparableConvolution, rank=1):
    """A convolution of each channel along one axis, then mixtures of channels."""


class SeparableConv2D(SeparableConvolution):
    """A convolution of each channel along two axes, then mixtures of channels."""


#: Keras's other names for these.
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
