"""Models: layers in a row, graphs of symbolic inputs, and subclasses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.core import InputLayer
from gradwire.tf.keras.symbolic import KerasTensor, symbolic_parts, values
from gradwire.tf.keras.training import Trainer
from gradwire.tf.seeds import SEEDS


class Model(Trainer):
    """A layer that can be trained: a subclass with a ``call``, or ``Model(inputs, outputs)``."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """``Model(inputs, outputs)`` is a ``Functional``."""
        symbolic = bool(args and symbolic_parts(args)) or "inputs" in kwargs
        return object.__new__(Functional if cls is Model and symbolic else cls)

    @property
    def layers(self) -> list[Any]:
        """The layers of the model, in order."""
        return list(self._tracked)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or by its place."""
        if index is not None:
            return self.layers[index]
        found = [layer for layer in self.layers if layer.name == name]
        if not found:
            raise ValueError(
                f"No such layer: {name}. Existing layers are: "
                f"{[layer.name for layer in self.layers]}."
            )
        return found[0]

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], Any] = print,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Sequence[str] | None = None,
    ) -> None:
        """Print layers and their numbers of weights, or give the text to ``print_fn``."""
        only(
            "Model.summary",
            line_length=(line_length, None),
            positions=(positions, None),
            expand_nested=(expand_nested, False),
            show_trainable=(show_trainable, False),
            layer_range=(layer_range, None),
        )
        lines = [f'Model: "{self.name}"']
        lines += [
            f"  {layer.name} ({type(layer).__name__}): {layer.count_params():,}"
            for layer in self.layers
        ]
        print_fn("\n".join([*lines, f"  Total params: {self.count_params():,}"]))

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights to a file, which NumPy can read too."""
        path = Path(filepath)
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists; overwrite=True replaces it")
        with path.open("wb") as file:
            np.savez(file, *self.get_weights())

    def load_weights(self, filepath: Any, skip_mismatch: bool = False) -> None:
        """Give the weights the values in a file that ``save_weights`` wrote."""
        only("Model.load_weights", skip_mismatch=(skip_mismatch, False))
        with np.load(Path(filepath)) as kept:
            self.set_weights([kept[name] for name in kept.files])


class Functional(Model):
    """A model of what is computed between symbolic inputs and outputs."""

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.inputs: list[KerasTensor] = symbolic_parts(inputs)
        self._nest = inputs
        self._outputs = outputs
        for layer in _layers_between(outputs):
            if not any(layer is known for known in self._tracked):
                self._tracked.append(layer)
        object.__setattr__(self, "built", True)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        if isinstance(inputs, dict) and not isinstance(self._nest, dict):
            given = [inputs[part.kwargs.get("name")] for part in self.inputs]
        elif isinstance(inputs, dict):
            given = [inputs[key] for key in self._nest]
        else:
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        known = {id(part): value for part, value in zip(self.inputs, given, strict=True)}
        return values(self._outputs, known)


class Sequential(Model):
    """Layers, each of which takes what the one before gives."""

    def __init__(
        self, layers: Sequence[Any] | None = None, trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(trainable=trainable, name=name)
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers, but for the input's."""
        return [layer for layer in self._tracked if not isinstance(layer, InputLayer)]

    def add(self, layer: Any) -> None:
        """Append a layer."""
        if isinstance(layer, KerasTensor):
            layer = InputLayer(shape=layer.shape[1:])
        if not isinstance(layer, Layer):
            raise ValueError(
                "Only instances of `keras.Layer` can be added to a Sequential model. "
                f"Received: {layer} (of type {type(layer)})"
            )
        shape = getattr(layer, "_input_shape", None)
        if shape is not None and not self._tracked:
            self.add(InputLayer(shape=shape))
        self._tracked.append(layer)
        first = self._tracked[0]
        if isinstance(first, InputLayer):
            with SEEDS.scratch():
                self(tf.zeros((1, *(length or 1 for length in first.batch_shape[1:]))))

    def pop(self) -> Any:
        """Take the last layer away."""
        return self._tracked.pop()

    def build(self, input_shape: Any) -> None:
        if not self.built and input_shape is not None:
            object.__setattr__(self, "built", True)
            with SEEDS.scratch():
                self.call(tf.zeros([length or 1 for length in input_shape], self._dtype))

    def call(self, inputs: Any, training: bool = False) -> Any:
        for layer in self._tracked:
            inputs = layer(inputs, training=training)
        return inputs


def _layers_between(outputs: Any) -> list[Any]:
    found: list[Any] = []
    seen: set[int] = set()

    def visit(value: Any) -> None:
        for part in symbolic_parts(value):
            if id(part) in seen:
                continue
            seen.add(id(part))
            visit((part.args, part.kwargs if part.layer is not None else {}))
            if isinstance(part.layer, Layer) and not any(part.layer is known for known in found):
                found.append(part.layer)

    visit(outputs)
    return found
