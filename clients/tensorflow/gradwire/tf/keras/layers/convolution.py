"""Layers along axes of space: convolutions and pooling, channels last."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras import activations, initializers, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec


class _Convolution(Layer):
    """``activation(convolution(x, kernel) + bias)``."""

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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.input_spec = InputSpec(min_ndim=self._rank + 2)
        self.filters: int = filters
        self.kernel_size: tuple[int, ...] = _tuple(kernel_size, self._rank)
        self.strides: tuple[int, ...] = _tuple(strides, self._rank)
        self.padding: str = padding.lower()
        self.dilation_rate: tuple[int, ...] = _tuple(dilation_rate, self._rank)
        self.groups: int = groups
        self.activation: Any = activations.get(activation)
        self.use_bias: bool = use_bias
        self.kernel_initializer: Any = initializers.get(kernel_initializer)
        self.bias_initializer: Any = initializers.get(bias_initializer)
        self.kernel_regularizer: Any = regularizers.get(kernel_regularizer)
        self.bias_regularizer: Any = regularizers.get(bias_regularizer)
        self.kernel: Any = None
        self.bias: Any = None

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels // self.groups, self.filters)

    def build(self, input_shape: Any) -> None:
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: input_shape[-1]})
        self.kernel = self.add_weight(
            self._kernel_shape(input_shape[-1]),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="kernel",
        )
        if self.use_bias:
            self.bias = self.add_weight(
                (self.filters,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                name="bias",
            )

    def convolved(self, inputs: Any) -> Any:
        """The convolution alone."""
        padding = self.padding.upper()
        if self._rank == 1 and padding == "CAUSAL":  # each place sees what is before it alone
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


class Conv1D(_Convolution):
    """A convolution along one axis."""

    _rank = 1


class Conv2D(_Convolution):
    """A convolution along two axes."""

    _rank = 2


class Conv2DTranspose(_Convolution):
    """The transpose of a convolution along two axes: what its gradient in the input is."""

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def convolved(self, inputs: Any) -> Any:
        batch, *space, _ = tuple(inputs.shape)
        lengths = [
            length * stride + (max(size - stride, 0) if self.padding == "valid" else 0)
            for length, stride, size in zip(space, self.strides, self.kernel_size, strict=True)
        ]
        return tf.nn.conv2d_transpose(
            inputs,
            self.kernel,
            output_shape=[batch, *lengths, self.filters],
            strides=list(self.strides),
            padding=self.padding.upper(),
        )


class _Pooling(Layer):
    _rank: int = 2
    _type: str = "MAX"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.pool_size: tuple[int, ...] = _tuple(pool_size, self._rank)
        self.strides: tuple[int, ...] = _tuple(
            self.pool_size if strides is None else strides, self._rank
        )
        self.padding: str = padding.lower()

    def call(self, inputs: Any) -> Any:
        return tf.nn.pool(
            inputs,
            list(self.pool_size),
            self._type,
            strides=list(self.strides),
            padding=self.padding.upper(),
        )


class MaxPooling1D(_Pooling):
    """The greatest of each window along one axis."""

    _rank = 1


class MaxPooling2D(_Pooling):
    """The greatest of each window along two axes."""


class AveragePooling1D(_Pooling):
    """The mean of each window along one axis."""

    _rank, _type = 1, "AVG"


class AveragePooling2D(_Pooling):
    """The mean of each window along two axes."""

    _type = "AVG"


class _GlobalPooling(Layer):
    _axes: tuple[int, ...] = (1, 2)
    _mean: bool = True

    def __init__(
        self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        self.keepdims: bool = keepdims

    def call(self, inputs: Any) -> Any:
        reduced = tf.reduce_mean if self._mean else tf.reduce_max
        return reduced(inputs, axis=list(self._axes), keepdims=self.keepdims)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean along the axis of space."""

    _axes = (1,)


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean along both axes of space."""


class GlobalMaxPooling1D(_GlobalPooling):
    """The greatest along the axis of space."""

    _axes, _mean = (1,), False


class GlobalMaxPooling2D(_GlobalPooling):
    """The greatest along both axes of space."""

    _mean = False


class ZeroPadding2D(Layer):
    """Zeros around both axes of space."""

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels_last(type(self).__name__, data_format)
        rows, columns = _tuple(padding, 2)
        self.padding: tuple[Any, Any] = (_tuple(rows, 2), _tuple(columns, 2))

    def call(self, inputs: Any) -> Any:
        return tf.pad(inputs, [[0, 0], *map(list, self.padding), [0, 0]])


class UpSampling2D(Layer):
    """Each element repeated along both axes of space."""

    def __init__(
        self,
        size: Any = 2,
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        only("UpSampling2D", interpolation=(interpolation, "nearest"))
        channels_last("UpSampling2D", data_format)
        super().__init__(**kwargs)
        self.size: tuple[int, ...] = _tuple(size, 2)

    def call(self, inputs: Any) -> Any:
        return tf.repeat(tf.repeat(inputs, self.size[0], axis=1), self.size[1], axis=2)


def _tuple(value: Any, count: int) -> tuple[Any, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)
