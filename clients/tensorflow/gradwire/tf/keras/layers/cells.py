"""Cells: one step of a recurrent layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.keras import initializers, random
from gradwire.tf.keras.configurable import configurable, options
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.seeds import SeedGenerator

__all__ = ["GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"]


class Cell(Layer):
    """One step: ``call(inputs, states)`` gives the output and the next states.

    ``dropout`` and ``recurrent_dropout`` are shares of inputs and of states that are left out in
    training, the same ones at all steps of a sequence.
    """

    _gates: ClassVar[int] = 1
    units: int
    use_bias: bool
    seed: int | None
    dropout: float
    recurrent_dropout: float
    state_size: Any
    bias_initializer: Any
    kernel: Any = None
    recurrent_kernel: Any = None
    bias: Any = None

    def __init__(self, **kwargs: Any) -> None:
        kwargs.pop("implementation", None)  # how it is computed
        super().__init__(**kwargs)
        self._dropout_masks: dict[str, list[Any]] = {}

    def __post_init__(self) -> None:
        if self.units <= 0:
            raise ValueError(f"`units` must be a whole number above 0; got {self.units}")
        self.state_size = self.units
        self.output_size: int = self.units
        self.seed_generator: SeedGenerator = SeedGenerator(self.seed)

    def _option(self, name: str, value: Any) -> Any:
        share = name in ("dropout", "recurrent_dropout")
        return min(1.0, max(0.0, value)) if share else super()._option(name, value)

    def build(self, input_shape: Any) -> None:
        width = self.units * self._gates
        self._add("kernel", (input_shape[-1], width))
        self._add("recurrent_kernel", (self.units, width), "recurrent")
        if self.use_bias:
            self._add_bias(width)

    def _add_bias(self, width: int) -> None:
        self._add("bias", (width,))

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """States of zeros."""
        sizes = [self.state_size] if isinstance(self.state_size, int) else self.state_size
        return [tf.zeros((batch_size, size), self.compute_dtype) for size in sizes]

    def reset_dropout_mask(self) -> None:
        """Draw anew what is left out: a sequence has ended."""
        self._dropout_masks = {}

    def _end_sequence(self) -> None:
        """Draw anew from now on; what was not drawn uses up its seeds, as in Keras.

        Keras draws what is left out for each sequence, in inference too, where nothing is.
        """
        for rate in ("dropout", "recurrent_dropout"):
            if getattr(self, rate) > 0 and rate not in self._dropout_masks:
                for _ in range(self._draws()):
                    self.seed_generator.next()
        self.reset_dropout_mask()

    def _draws(self) -> int:
        """The number of draws of what is left out: one for all gates, or one for each."""
        return self._gates if self.recurrent_dropout else 1

    def _dropped_out(self, value: Any, rate: str, training: Any) -> list[Any]:
        """A value for each gate, in training without the share that is left out.

        What is left out is the same for all gates, unless states have dropout, too.
        """
        share = getattr(self, rate)
        if not training or not 0.0 < share < 1.0:
            return [value] * self._gates
        if rate not in self._dropout_masks:
            ones = tf.ones_like(value)
            self._dropout_masks[rate] = [
                random.dropout(ones, share, seed=self.seed_generator) for _ in range(self._draws())
            ]
        masks = self._dropout_masks[rate]
        if len(masks) == 1:
            return [value * masks[0]] * self._gates
        return [value * mask for mask in masks]

    def _products(self, values: Sequence[Any], kernel: Any) -> list[Any]:
        """The product of each gate's value with its part of a kernel."""
        if all(value is values[0] for value in values):
            whole = tf.matmul(values[0], kernel)
            return tf.split(whole, self._gates, axis=1) if self._gates > 1 else [whole]
        parts = tf.split(kernel, self._gates, axis=1)
        return [tf.matmul(value, part) for value, part in zip(values, parts, strict=True)]


@options
class Sized:
    """The length of states, and the activation."""

    units: int
    activation: Any = "tanh"


@options
class Gated:
    """The activation of gates."""

    recurrent_activation: Any = "sigmoid"


@options
class Initialized:
    """The initial weights."""

    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    recurrent_initializer: Any = "orthogonal"
    bias_initializer: Any = "zeros"


@options
class Forgetful:
    """The bias of the gate that forgets."""

    unit_forget_bias: bool = True


@options
class Regularized:
    """The penalties of weights."""

    kernel_regularizer: Any = None
    recurrent_regularizer: Any = None
    bias_regularizer: Any = None


@options
class Constrained:
    """The constraints of weights, and dropout."""

    kernel_constraint: Any = None
    recurrent_constraint: Any = None
    bias_constraint: Any = None
    dropout: float = 0.0
    recurrent_dropout: float = 0.0


@options
class Seeded:
    """The seed of dropout."""

    seed: int | None = None


@configurable
class SimpleRNNCell(Seeded, Constrained, Regularized, Initialized, Sized, Cell):
    """``activation(x kernel + h recurrent_kernel + bias)``."""

    def _option(self, name: str, value: Any) -> Any:
        return value if name.endswith("_initializer") else super()._option(name, value)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("kernel", "recurrent", "bias"):  # whose seeds come after its own, as in Keras
            first = initializers.get(getattr(self, f"{name}_initializer"))
            setattr(self, f"{name}_initializer", first)

    def call(self, sequence: Any, states: Any, training: bool = False) -> Any:
        (hidden,) = states if isinstance(states, (list, tuple)) else (states,)
        value = tf.matmul(self._dropped_out(sequence, "dropout", training)[0], self.kernel)
        value = value if self.bias is None else value + self.bias
        hidden = self._dropped_out(hidden, "recurrent_dropout", training)[0]
        value = self.activation(value + tf.matmul(hidden, self.recurrent_kernel))
        return value, [value] if isinstance(states, (list, tuple)) else value


@configurable
class LSTMCell(Seeded, Constrained, Regularized, Forgetful, Initialized, Gated, Sized, Cell):
    """The gates i, f, c and o of Hochreiter and Schmidhuber's, in this order."""

    _gates = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self.state_size: Any = [self.units, self.units]

    def _add_bias(self, width: int) -> None:
        self._add("bias", (width,), first=self._first_bias if self.unit_forget_bias else None)

    def _first_bias(self, shape: Any, dtype: Any = None) -> Any:
        units = self.units
        begin = self.bias_initializer((units,), dtype=dtype)
        end = self.bias_initializer((2 * units,), dtype=dtype)
        return tf.concat([begin, tf.ones((units,), dtype), end], 0)

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        hidden, carried = states
        ours = self._products(self._dropped_out(inputs, "dropout", training), self.kernel)
        before = self._products(
            self._dropped_out(hidden, "recurrent_dropout", training), self.recurrent_kernel
        )
        values = [one + other for one, other in zip(ours, before, strict=True)]
        if self.bias is not None:
            parts = tf.split(self.bias, 4)
            values = [value + part for value, part in zip(values, parts, strict=True)]
        entering, forgotten, new, leaving = values
        gate = self.recurrent_activation
        carried = gate(forgotten) * carried + gate(entering) * self.activation(new)
        hidden = gate(leaving) * self.activation(carried)
        return hidden, [hidden, carried]


@configurable
class GRUCell(Constrained, Regularized, Initialized, Gated, Sized, Cell):
    """The gates z, r and h of Cho and others', in this order.

    The state is reset after its product with the kernel, or before, as ``reset_after`` says.
    """

    _gates = 3
    reset_after: bool = True
    seed: int | None = None

    def _add_bias(self, width: int) -> None:
        self._add("bias", (2, width) if self.reset_after else (width,))

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        (hidden,) = states if isinstance(states, (list, tuple)) else (states,)
        xz, xr, xh = self._products(self._dropped_out(inputs, "dropout", training), self.kernel)
        before = self._dropped_out(hidden, "recurrent_dropout", training)
        gates = [tf.zeros((), self.compute_dtype)] * 3
        if self.bias is not None:
            ours = self.bias[0] if self.reset_after else self.bias
            bz, br, bh = tf.split(ours, 3)
            xz, xr, xh = xz + bz, xr + br, xh + bh
            gates = tf.split(self.bias[1], 3) if self.reset_after else gates
        gate = self.recurrent_activation
        if self.reset_after:
            hz, hr, hh = self._products(before, self.recurrent_kernel)
            if self.bias is not None:
                hz, hr, hh = hz + gates[0], hr + gates[1], hh + gates[2]
            update, reset = gate(xz + hz), gate(xr + hr)
            new = self.activation(xh + reset * hh)
        else:
            kz, kr, kh = tf.split(self.recurrent_kernel, 3, axis=1)
            update = gate(xz + tf.matmul(before[0], kz))
            reset = gate(xr + tf.matmul(before[1], kr))
            new = self.activation(xh + tf.matmul(reset * before[2], kh))
        value = update * hidden + (1.0 - update) * new
        return value, [value] if isinstance(states, (list, tuple)) else value


class StackedRNNCells(Layer):
    """Cells in a row as one, whose state is a list of theirs."""

    def __init__(self, cells: Sequence[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise ValueError(
                    f"A cell needs a method `call` and an attribute `state_size`; {cell} lacks one"
                )
        self.cells: list[Any] = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """The sizes of the cells' states."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self) -> Any:
        """The length of the last cell's output."""
        last = self.cells[-1]
        found = getattr(last, "output_size", None)
        sizes = tf.nest.flatten(last.state_size)
        return sizes[0] if found is None else found

    def build(self, input_shape: Any) -> None:
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
            size = getattr(cell, "output_size", None) or tf.nest.flatten(cell.state_size)[0]
            input_shape = (input_shape[0], size)

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """States of zeros, those of each cell in a list."""
        return [first_states(cell, batch_size, self.compute_dtype) for cell in self.cells]

    def reset_dropout_mask(self) -> None:
        """Draw anew what is left out: a sequence has ended."""
        for cell in self.cells:
            if hasattr(cell, "reset_dropout_mask"):
                cell.reset_dropout_mask()

    def _end_sequence(self) -> None:
        """Draw anew from now on, in each cell."""
        for cell in self.cells:
            if hasattr(cell, "_end_sequence"):
                cell._end_sequence()

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        following = []
        for cell, own in zip(self.cells, states, strict=True):
            inputs, after = cell(inputs, own, training=training)
            following.append(after if isinstance(after, (list, tuple)) else [after])
        return inputs, following


def first_states(cell: Any, batch_size: Any, dtype: Any) -> list[Any]:
    """The states that a cell begins with: its own, or zeros."""
    if hasattr(cell, "get_initial_state"):
        states = cell.get_initial_state(batch_size=batch_size)
        return list(states) if isinstance(states, (list, tuple)) else [states]
    return [tf.zeros((batch_size, size), dtype) for size in tf.nest.flatten(cell.state_size)]
