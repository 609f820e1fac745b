"""Long short-term memory whose products are convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras import initializers
from gradwire.tf.keras.configurable import configurable, options, parameters
from gradwire.tf.keras.layers.cells import (
    Constrained,
    Forgetful,
    Gated,
    Initialized,
    LSTMCell,
    Regularized,
    Seeded,
)
from gradwire.tf.keras.layers.recurrent import Penalized, Returning, Rolled
from gradwire.tf.keras.layers.spatial import lengths
from gradwire.tf.keras.layers.specs import InputSpec

__all__ = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]


@configurable
class _Cell(LSTMCell):
    """The gates of an LSTM at each place of a picture, whose states are pictures."""

    kernel_size: Any = 1
    strides: Any = 1
    padding: Any = "valid"
    dilation_rate: Any = 1

    def _option(self, name: str, value: Any) -> Any:
        return value if name.endswith("_initializer") else super()._option(name, value)

    def __post_init__(self) -> None:
        for name in ("kernel", "recurrent", "bias"):  # whose seeds come after its own, as in Keras
            first = initializers.get(getattr(self, f"{name}_initializer"))
            setattr(self, f"{name}_initializer", first)
        self._places: tuple[int, ...] = ()

    def build(self, input_shape: Any) -> None:
        width = self.units * self._gates
        self._add("kernel", (*self.kernel_size, input_shape[-1], width))
        self._add("recurrent_kernel", (*self.kernel_size, self.units, width), "recurrent")
        if self.use_bias:
            self._add_bias(width)
        sizes = zip(
            input_shape[1:-1], self.kernel_size, self.strides, self.dilation_rate, strict=True
        )
        same = self.padding == "same"
        self._places = tuple(
            -(-(length if same else length - (size - 1) * apart) // step)
            for length, size, step, apart in sizes
        )

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """States of zeros."""
        return [tf.zeros((batch_size, *self._places, self.units), self.compute_dtype)] * 2

    def _draws(self) -> int:
        return self._gates

    def _products(self, values: Sequence[Any], kernel: Any) -> list[Any]:
        of_input = kernel is self.kernel
        options: dict[str, Any] = {
            "strides": list(self.strides) if of_input else 1,
            "padding": self.padding.upper() if of_input else "SAME",
            "dilations": list(self.dilation_rate) if of_input else 1,
        }
        if all(value is values[0] for value in values):
            return tf.split(tf.nn.convolution(values[0], kernel, **options), self._gates, axis=-1)
        parts = tf.split(kernel, self._gates, axis=-1)
        return [
            tf.nn.convolution(value, part, **options)
            for value, part in zip(values, parts, strict=True)
        ]


@options
class _Convolved:
    """The convolution, and the activation."""

    filters: int
    kernel_size: Any
    strides: Any = 1
    padding: str = "valid"
    data_format: str | None = None
    dilation_rate: Any = 1
    activation: Any = "tanh"


@configurable
class _ConvLSTM(
    Returning,
    Seeded,
    Constrained,
    Penalized,
    Regularized,
    Forgetful,
    Initialized,
    Gated,
    _Convolved,
    Rolled,
):
    """Shi's: an LSTM along the axis of time, whose inputs and states are pictures."""

    _rank: ClassVar[int]
    zero_output_for_mask = False

    def _option(self, name: str, value: Any) -> Any:
        return value  # which the cell reads

    def __post_init__(self) -> None:
        super().__post_init__()
        channels_last(type(self).__name__, self.data_format)
        self.data_format: str | None = "channels_last"
        for name in ("kernel_size", "strides", "dilation_rate"):
            setattr(self, name, lengths(getattr(self, name), self._rank))
        own = [name for name in parameters(_Cell) if hasattr(self, name)]
        shared = {"dtype": self.dtype_policy, "name": "conv_lstm_cell", "trainable": self.trainable}
        given = {name: getattr(self, name) for name in own} | shared
        given.pop("activity_regularizer", None)  # of the layer's output
        self.cell: Any = _Cell(units=self.filters, **given)
        for name in own:
            if name not in shared and name != "activity_regularizer":
                setattr(self, name, getattr(self.cell, name))
        self.input_spec: Any = InputSpec(ndim=self._rank + 3)


class ConvLSTM1D(_ConvLSTM):
    """An LSTM of pictures with one axis of space."""

    _rank = 1


class ConvLSTM2D(_ConvLSTM):
    """An LSTM of pictures with two axes of space."""

    _rank = 2


class ConvLSTM3D(_ConvLSTM):
    """An LSTM of pictures with three axes of space."""

    _rank = 3
