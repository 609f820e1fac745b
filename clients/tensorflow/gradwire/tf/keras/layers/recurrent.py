"""Layers along an axis of time: each step is recorded as it is executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import parameters
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.cells import (
    Cell,
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    first_states,
)
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.objects import serialize_keras_object


class RNN(Layer):
    """A cell along the axis of time: its last output, or all of them.

    At steps that a mask leaves out, the state and the output stay as they were;
    ``zero_output_for_mask`` makes outputs zeros there.
    """

    supports_masking = True

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        only(type(self).__name__, stateful=(stateful, False))
        super().__init__(**kwargs)
        cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        if not hasattr(cell, "call"):
            raise ValueError(f"Argument `cell` should have a `call` method. Received: cell={cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have a `state_size` attribute (single integer or list of "
                f"integers, one integer per RNN state). Received: cell={cell}"
            )
        self.cell: Any = cell
        self.return_sequences: bool = return_sequences
        self.return_state: bool = return_state
        self.go_backwards: bool = go_backwards
        self.stateful: bool = stateful
        self.unroll: bool = unroll  # each step is recorded in any case
        self.zero_output_for_mask: bool = zero_output_for_mask

    @property
    def state_size(self) -> list[Any]:
        """The sizes of the states."""
        size = self.cell.state_size
        return [size] if isinstance(size, int) else list(size)

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        """The mask of the steps, if there is an output for each."""
        del inputs  # whatever they are
        mask = tf.nest.flatten(mask)[0]
        mask = mask if self.return_sequences else None
        return [mask, *(None for _ in self.state_size)] if self.return_state else mask

    def build(self, sequences_shape: Any) -> None:
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))

    def get_initial_state(self, batch_size: Any) -> list[Any]:
        """The states that the cell begins with."""
        return first_states(self.cell, batch_size, self._dtype)

    def call(
        self,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool = False,
    ) -> Any:
        batch, steps = tuple(sequences.shape)[:2]
        states: Any = self.get_initial_state(batch) if initial_state is None else initial_state
        states = list(states) if isinstance(states, (list, tuple)) else [states]
        outputs: list[Any] = []
        mask = mask if mask is None else tf.cast(mask, tf.bool)
        for step in reversed(range(steps)) if self.go_backwards else range(steps):
            output, after = self._step(sequences[:, step], states, training)
            if mask is not None:
                counts = mask[:, step]
                before = outputs[-1] if outputs else tf.zeros_like(output)
                output = _chosen(counts, output, before)
                after = tf.nest.map_structure(
                    lambda new, old, counts=counts: _chosen(counts, new, old), after, states
                )
            states = after
            outputs.append(output)
        if hasattr(self.cell, "reset_dropout_mask"):
            self.cell.reset_dropout_mask()
        if mask is not None and self.zero_output_for_mask:
            order = range(steps)[::-1] if self.go_backwards else range(steps)
            outputs = [
                _chosen(mask[:, step], output, tf.zeros_like(output))
                for step, output in zip(order, outputs, strict=True)
            ]
        value = tf.stack(outputs, axis=1) if self.return_sequences else outputs[-1]
        return (value, *states) if self.return_state else value

    def _step(self, inputs: Any, states: list[Any], training: Any) -> tuple[Any, list[Any]]:
        if isinstance(self.cell, Layer):
            output, after = self.cell(inputs, states, training=training)
        else:
            output, after = self.cell.call(inputs, states)
        return output, list(after) if isinstance(after, (list, tuple)) else [after]


class Recurrent(RNN):
    """A layer along time by one of the cells, whose arguments it takes."""

    _cell: type[Cell] = SimpleRNNCell

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        *args: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        use_cudnn: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        if use_cudnn not in ("auto", True, False):
            raise ValueError(
                "Invalid valid received for argument `use_cudnn`. Expected one of "
                f"{{'auto', True, False}}. Received: use_cudnn={use_cudnn}"
            )
        shared = ("trainable", "dtype")
        own = [name for name in parameters(self._cell) if name not in parameters(Layer)]
        given = {name: kwargs[name] for name in (*own, *shared) if name in kwargs}
        kwargs.pop("implementation", None)  # how it is computed
        name = snake_case(self._cell.__name__)
        cell = self._cell(units, activation, *args, name=name, **given)
        super().__init__(
            cell,
            return_sequences,
            return_state,
            go_backwards,
            stateful,
            unroll,
            zero_output_for_mask,
            **{name: value for name, value in kwargs.items() if name not in own},
        )
        self.input_spec: Any = InputSpec(ndim=3)

    def __getattr__(self, name: str) -> Any:
        """What the cell was made with."""
        if not name.startswith("_") and name in parameters(self._cell):
            return getattr(self.cell, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another: its own and the cell's."""
        own = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")
        config = self._basic_config()
        names = [*own, "zero_output_for_mask", *parameters(self._cell)]
        for name in names:
            if name not in parameters(Layer):
                config[name] = serialize_keras_object(getattr(self, name))
        return config


class SimpleRNN(Recurrent):
    """``h = tanh(x kernel + h recurrent_kernel + bias)`` along the axis of time."""


class LSTM(Recurrent):
    """Long short-term memory along the axis of time."""

    _cell = LSTMCell


class GRU(Recurrent):
    """Gated recurrent units along the axis of time."""

    _cell = GRUCell


def _chosen(counts: Any, new: Any, old: Any) -> Any:
    """The new value for examples whose step counts, the old one for others."""
    shape: Sequence[int] = (counts.shape[0], *(1 for _ in tuple(new.shape)[1:]))
    return tf.where(tf.reshape(counts, shape), new, old)
