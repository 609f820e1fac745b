"""Layers along an axis of time: each step is recorded as it is executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.configurable import configurable, options, parameters
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.cells import (
    Cell,
    Constrained,
    Forgetful,
    Gated,
    GRUCell,
    Initialized,
    LSTMCell,
    Regularized,
    Seeded,
    SimpleRNNCell,
    Sized,
    StackedRNNCells,
    first_states,
)
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.names import snake_case

__all__ = ["GRU", "LSTM", "RNN", "SimpleRNN"]


class Rolled(Layer):
    """A cell along the axis of time, whose steps are recorded one by one."""

    supports_masking = True
    cell: Any
    return_sequences: bool
    return_state: bool
    go_backwards: bool
    stateful: bool
    zero_output_for_mask: bool

    def __post_init__(self) -> None:
        only(type(self).__name__, stateful=(self.stateful, False))

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
        return first_states(self.cell, batch_size, self.compute_dtype)

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
        if hasattr(self.cell, "_end_sequence"):
            self.cell._end_sequence()
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


@configurable
class RNN(Rolled):
    """A cell along the axis of time: its last output, or all of them.

    At steps that a mask leaves out, the state and the output stay as they were;
    ``zero_output_for_mask`` makes outputs zeros there.
    """

    cell: Any
    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False
    unroll: bool = False  # each step is recorded in any case
    zero_output_for_mask: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        cell = self.cell
        if isinstance(cell, (list, tuple)):
            cell = self.cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError(f"`cell` lacks a method `call`; got {cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "`cell` lacks an attribute `state_size`, the length of its state or a list of "
                f"lengths; got {cell}"
            )


class Recurrent(Rolled):
    """A layer along time by one of the cells, whose arguments it takes."""

    _cell: ClassVar[type[Cell]] = SimpleRNNCell
    _left_out = ("use_cudnn",)  # how it is computed
    use_cudnn: Any = "auto"

    def __init__(self, **kwargs: Any) -> None:
        kwargs.pop("implementation", None)  # how it is computed
        super().__init__(**kwargs)

    def _option(self, name: str, value: Any) -> Any:
        return value  # which the cell reads

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.use_cudnn not in ("auto", True, False):
            raise ValueError(f"`use_cudnn` must be True, False or 'auto'; got {self.use_cudnn!r}")
        own = [name for name in parameters(self._cell) if name not in parameters(Layer)]
        given = {name: getattr(self, name) for name in own}
        shared = {"name": snake_case(self._cell.__name__), "dtype": self.dtype_policy}
        cell = self._cell(**given, **shared, trainable=self.trainable)
        self.cell: Any = cell
        for name in own:
            setattr(self, name, getattr(cell, name))
        self.input_spec: Any = InputSpec(ndim=3)


@options
class Penalized:
    """The penalty of outputs."""

    activity_regularizer: Any = None


@options
class Returning:
    """The outputs, and the direction."""

    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False


@configurable
class SimpleRNN(Returning, Constrained, Penalized, Regularized, Initialized, Sized, Recurrent):
    """``h = tanh(x kernel + h recurrent_kernel + bias)`` along the axis of time."""

    unroll: bool = False
    seed: int | None = None
    zero_output_for_mask: bool = False


@configurable
class LSTM(
    Returning,
    Seeded,
    Constrained,
    Penalized,
    Regularized,
    Forgetful,
    Initialized,
    Gated,
    Sized,
    Recurrent,
):
    """Long short-term memory along the axis of time."""

    _cell = LSTMCell
    unroll: bool = False
    use_cudnn: Any = "auto"
    zero_output_for_mask: bool = False


@configurable
class GRU(
    Returning, Seeded, Constrained, Penalized, Regularized, Initialized, Gated, Sized, Recurrent
):
    """Gated recurrent units along the axis of time."""

    _cell = GRUCell
    unroll: bool = False
    reset_after: bool = True
    use_cudnn: Any = "auto"
    zero_output_for_mask: bool = False


def _chosen(counts: Any, new: Any, old: Any) -> Any:
    """The new value for examples whose step counts, the old one for others."""
    shape: Sequence[int] = (counts.shape[0], *(1 for _ in tuple(new.shape)[1:]))
    return tf.where(tf.reshape(counts, shape), new, old)
