"""Layers along an axis of time: each step is recorded as it is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import activations, initializers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.seeds import SeedGenerator


class _Cell(Layer):
    """One step: ``call(inputs, states)`` gives the output and the next states."""

    _gates: int = 1
    _states: int = 1
    #: Whether its seed for dropout is drawn before those of its initialisers.
    _drops_first: bool = False

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units: int = units
        self.activation: Any = activations.get(activation)
        self.recurrent_activation: Any = activations.get(recurrent_activation)
        self.use_bias: bool = use_bias
        self.seed: int | None = seed
        given = (kernel_initializer, recurrent_initializer, bias_initializer)
        self._initializers = self._seeded(initializers.get, given)
        self.kernel: Any = None
        self.recurrent_kernel: Any = None
        self.bias: Any = None

    def draw_seeds(self) -> None:
        """Draw seeds anew for what was given none, as another cell like this one would."""
        self._initializers = self._seeded(initializers.cloned, self._initializers)

    def _seeded(self, made: Callable[[Any], Any], given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Initialisers, made in Keras's order among the seeds that are drawn.

        Nothing here drops out, but the seed that Keras draws for that shifts all later ones.
        """
        if self._drops_first:
            SeedGenerator(self.seed)
        found = tuple(made(each) for each in given)
        if not self._drops_first:
            SeedGenerator(self.seed)
        return found

    @property
    def state_size(self) -> list[int]:
        """The lengths of the states."""
        return [self.units] * self._states

    def build(self, input_shape: Any) -> None:
        kernel, recurrent, bias = self._initializers
        width = self.units * self._gates
        self.kernel = self.add_weight((input_shape[-1], width), kernel, name="kernel")
        self.recurrent_kernel = self.add_weight(
            (self.units, width), recurrent, name="recurrent_kernel"
        )
        if self.use_bias:
            self._add_bias(width, bias)

    def _add_bias(self, width: int, initializer: Any) -> None:
        self.bias = self.add_weight((width,), initializer, name="bias")

    def get_initial_state(self, batch_size: int) -> list[Any]:
        """States of zeros."""
        return [tf.zeros((batch_size, size), self._dtype) for size in self.state_size]


class SimpleRNNCell(_Cell):
    """``tanh(x kernel + h recurrent_kernel + bias)``."""

    _drops_first = True

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        (hidden,) = states if isinstance(states, (list, tuple)) else (states,)
        value = tf.matmul(inputs, self.kernel) + tf.matmul(hidden, self.recurrent_kernel)
        value = self.activation(value if self.bias is None else value + self.bias)
        return value, [value]


class LSTMCell(_Cell):
    """The gates i, f, c and o of Hochreiter and Schmidhuber's, in this order."""

    _gates, _states = 4, 2

    def __init__(self, units: int, unit_forget_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, **kwargs)
        self.unit_forget_bias: bool = unit_forget_bias

    def _add_bias(self, width: int, initializer: Any) -> None:
        super()._add_bias(width, initializer)
        if self.unit_forget_bias:
            forget = np.zeros(width, np.float32)
            forget[self.units : 2 * self.units] = 1.0
            self.bias.assign(self.bias + tf.cast(tf.constant(forget), self.bias.dtype))

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        hidden, carried = states
        value = tf.matmul(inputs, self.kernel) + tf.matmul(hidden, self.recurrent_kernel)
        value = value if self.bias is None else value + self.bias
        entering, forgotten, new, leaving = tf.split(value, 4, axis=1)
        gate = self.recurrent_activation
        carried = gate(forgotten) * carried + gate(entering) * self.activation(new)
        hidden = gate(leaving) * self.activation(carried)
        return hidden, [hidden, carried]


class GRUCell(_Cell):
    """The gates z, r and h of Cho and others', in this order, reset after the product."""

    _gates = 3

    def _add_bias(self, width: int, initializer: Any) -> None:
        self.bias: Any = self.add_weight((2, width), initializer, name="bias")

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        (hidden,) = states if isinstance(states, (list, tuple)) else (states,)
        ours = tf.matmul(inputs, self.kernel)
        before = tf.matmul(hidden, self.recurrent_kernel)
        if self.bias is not None:
            ours, before = ours + self.bias[0], before + self.bias[1]
        xz, xr, xh = tf.split(ours, 3, axis=1)
        hz, hr, hh = tf.split(before, 3, axis=1)
        update, reset = self.recurrent_activation(xz + hz), self.recurrent_activation(xr + hr)
        value = update * hidden + (1.0 - update) * self.activation(xh + reset * hh)
        return value, [value]


class RNN(Layer):
    """A cell along the axis of time: its last output, or all of them."""

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.cell: Any = cell
        self.return_sequences: bool = return_sequences
        self.return_state: bool = return_state
        self.go_backwards: bool = go_backwards

    def build(self, input_shape: Any) -> None:
        if not self.cell.built:
            self.cell.build((input_shape[0], *input_shape[2:]))
            object.__setattr__(self.cell, "built", True)

    def call(
        self, inputs: Any, initial_state: Sequence[Any] | None = None, training: bool = False
    ) -> Any:
        batch, steps = tuple(inputs.shape)[:2]
        states = list(initial_state or self.cell.get_initial_state(batch))
        outputs = []
        for step in reversed(range(steps)) if self.go_backwards else range(steps):
            output, states = self.cell(inputs[:, step], states)
            outputs.append(output)
        value = tf.stack(outputs, axis=1) if self.return_sequences else outputs[-1]
        return [value, *states] if self.return_state else value


class _Recurrent(RNN):
    _cell: type[_Cell] = SimpleRNNCell

    def __init__(
        self,
        units: int,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            self._cell(units, **kwargs), return_sequences, return_state, go_backwards, name=name
        )

    @property
    def units(self) -> int:
        """The length of the output."""
        return int(self.cell.units)


class SimpleRNN(_Recurrent):
    """``h = tanh(x kernel + h recurrent_kernel + bias)`` along the axis of time."""


class LSTM(_Recurrent):
    """Long short-term memory along the axis of time."""

    _cell = LSTMCell


class GRU(_Recurrent):
    """Gated recurrent units along the axis of time."""

    _cell = GRUCell
