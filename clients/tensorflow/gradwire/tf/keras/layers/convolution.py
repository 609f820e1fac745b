"""Convolutions along axes of space, channels last."""

from __future__ import annotations

from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.spatial import Spatial
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.ops.networks import conv_transpose

__all__ = [
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose",
    "Convolution1D", "Convolution1DTranspose", "Convolution2D", "Convolution2DTranspose",
    "Convolution3D", "Convolution3DTranspose",
]  # fmt: skip


class Convolving(Spatial):
    """``activation(convolution(x, kernel) + bias)``."""

    _lengths = ("kernel_size", "strides", "dilation_rate")
    #: The argument's name of what the kernel is made by.
    _of: ClassVar[str] = "kernel"
    _paddings: ClassVar[tuple[str, ...]] = ("valid", "same")
    kernel_size: Any
    strides: Any
    padding: str
    dilation_rate: Any
    activation: Any
    use_bias: bool
    kernel: Any = None
    bias: Any = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.input_spec: Any = InputSpec(min_ndim=self._rank + 2)

    def _option(self, name: str, value: Any) -> Any:
        value = super()._option(name, value)
        if name == "padding" and value not in self._paddings:
            raise ValueError(f"`padding` must be one of {', '.join(self._paddings)}; got {value!r}")
        return value

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        raise NotImplementedError(f"{type(self).__name__} must have a method _kernel_shape")

    def _channels(self, channels: int) -> int:
        """The number of channels of the output."""
        raise NotImplementedError(f"{type(self).__name__} must have a method _channels")

    def build(self, input_shape: Any) -> None:
        channels = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: channels})
        self._add_kernels(channels)
        if self.use_bias:
            self._add("bias", (self._channels(channels),))

    def _add_kernels(self, channels: int) -> None:
        self._add("kernel", self._kernel_shape(channels), self._of)

    def convolved(self, inputs: Any) -> Any:
        """The convolution alone."""
        raise NotImplementedError(f"{type(self).__name__} must have a method convolved")

    def call(self, inputs: Any) -> Any:
        value = self.convolved(inputs)
        return self.activation(value if self.bias is None else value + self.bias)


@configurable
class Convolution(Convolving):
    """A convolution of all channels."""

    filters: int
    kernel_size: Any
    strides: Any = 1
    padding: str = "valid"
    data_format: str | None = None
    dilation_rate: Any = 1
    groups: int = 1
    activation: Any = None
    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None

    def __post_init__(self) -> None:
        if self.groups <= 0 or self.filters % self.groups:
            raise ValueError(
                f"{self.filters} `filters` do not split into {self.groups} equal `groups`"
            )

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        if channels % self.groups:
            raise ValueError(
                f"{channels} channels of the input do not split into {self.groups} equal `groups`"
            )
        return (*self.kernel_size, channels // self.groups, self.filters)

    def _channels(self, channels: int) -> int:
        return self.filters

    def convolved(self, inputs: Any) -> Any:
        padding = self.padding.upper()
        if padding == "CAUSAL":  # each place sees what is before it alone
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs, padding = tf.pad(inputs, [[0, 0], [before, 0], [0, 0]]), "VALID"
        return tf.nn.convolution(
            inputs,
            self.kernel,
            strides=list(self.strides),
            padding=padding,
            dilations=list(self.dilation_rate),
        )


class Conv1D(Convolution, rank=1):
    """A convolution along one axis."""

    _paddings = ("valid", "same", "causal")


class Conv2D(Convolution):
    """A convolution along two axes."""


class Conv3D(Convolution, rank=3):
    """A convolution along three axes."""


@configurable
class Transposed(Convolving):
    """The transpose of a convolution: what its gradient in the input is."""

    filters: int
    kernel_size: Any
    strides: Any = 1
    padding: str = "valid"
    output_padding: Any = None
    data_format: str | None = None
    dilation_rate: Any = 1
    activation: Any = None
    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None

    def __post_init__(self) -> None:
        only(
            type(self).__name__,
            output_padding=(self.output_padding, None),
            dilation_rate=(self.dilation_rate, (1,) * self._rank),
        )

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _channels(self, channels: int) -> int:
        return self.filters

    def convolved(self, inputs: Any) -> Any:
        return conv_transpose(inputs, self.kernel, self.strides, self.padding)


class Conv1DTranspose(Transposed, rank=1):
    """The transpose of a convolution along one axis."""


class Conv2DTranspose(Transposed):
    """The transpose of a convolution along two axes."""


class Conv3DTranspose(Transposed, rank=3):
    """The transpose of a convolution along three axes."""


#: Keras's other names for these.
Convolution1D = Conv1D
Convolution1DTranspose = Conv1DTranspose
Convolution2D = Conv2D
Convolution2DTranspose = Conv2DTranspose
Convolution3D = Conv3D
Convolution3DTranspose = Conv3DTranspose
