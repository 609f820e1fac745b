"""Convolutions along axes of space, channels last."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras import activations, constraints, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec


class Convolution(Layer):
    """``activation(convolution(x, kernel) + bias)``, along so many axes."""

    _rank: int = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        groups: int = 1,
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
        channels_last(type(self).__name__, data_format)
        self.input_spec: Any = InputSpec(min_ndim=self._rank + 2)
        self.filters: int = filters
        self.kernel_size: tuple[int, ...] = lengths(kernel_size, self._rank)
        self.strides: tuple[int, ...] = lengths(strides, self._rank)
        self.padding: str = padding.lower()
        self.data_format: str = "channels_last"
        self.dilation_rate: tuple[int, ...] = lengths(dilation_rate, self._rank)
        self.groups: int = groups
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
        allowed = ("valid", "same", "causal") if self._rank == 1 else ("valid", "same")
        if self.padding not in allowed:
            raise ValueError(
                f"Invalid `padding` argument. Expected one of {allowed}. Received: "
                f"padding={padding}"
            )
        if groups <= 0 or filters % groups:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. "
                f"Received: groups={groups}, filters={filters}."
            )

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        if channels % self.groups:
            raise ValueError(
                "The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={self.groups}, but the input has {channels} channels."
            )
        return (*self.kernel_size, channels // self.groups, self.filters)

    def build(self, input_shape: Any) -> None:
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: input_shape[-1]})
        self.kernel = self.add_weight(
            self._kernel_shape(input_shape[-1]),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        if self.use_bias:
            self.bias = self.add_weight(
                (self.filters,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )

    def convolved(self, inputs: Any) -> Any:
        """The convolution alone."""
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

    def call(self, inputs: Any) -> Any:
        value = self.convolved(inputs)
        return self.activation(value if self.bias is None else value + self.bias)


class Conv1D(Convolution):
    """A convolution along one axis."""

    _rank = 1


class Conv2D(Convolution):
    """A convolution along two axes."""

    _rank = 2


class Conv3D(Convolution):
    """A convolution along three axes."""

    _rank = 3


class Transposed(Convolution):
    """The transpose of a convolution: what its gradient in the input is."""

    _left_out = ("groups",)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
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
        name = type(self).__name__
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            1,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )
        only(
            name,
            output_padding=(output_padding, None),
            dilation_rate=(self.dilation_rate, (1,) * self._rank),
        )
        self.output_padding: Any = output_padding

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def convolved(self, inputs: Any) -> Any:
        batch, *space, _ = tuple(inputs.shape)
        wanted = [
            length * stride + (max(size - stride, 0) if self.padding == "valid" else 0)
            for length, stride, size in zip(space, self.strides, self.kernel_size, strict=True)
        ]
        return tf.nn.conv_transpose(
            inputs,
            self.kernel,
            output_shape=[batch, *wanted, self.filters],
            strides=list(self.strides),
            padding=self.padding.upper(),
        )


class Conv1DTranspose(Transposed):
    """The transpose of a convolution along one axis."""

    _rank = 1


class Conv2DTranspose(Transposed):
    """The transpose of a convolution along two axes."""

    _rank = 2


class Conv3DTranspose(Transposed):
    """The transpose of a convolution along three axes."""

    _rank = 3


def lengths(value: Any, count: int) -> tuple[int, ...]:
    """A length for each axis, from one for all or one for each."""
    found = (value,) * count if isinstance(value, int) else tuple(value)
    if len(found) != count:
        raise ValueError(f"{count} lengths are needed, one for each axis; got {value}")
    return found
