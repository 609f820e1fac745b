"""Models: layers that can be trained, as subclasses or as graphs of symbolic inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.masks import mask_of, set_mask
from gradwire.tf.keras.models import files, wiring
from gradwire.tf.keras.models.graphs import connected, operations_in_order
from gradwire.tf.keras.models.summaries import summary_lines
from gradwire.tf.keras.objects import custom_object_scope
from gradwire.tf.keras.symbolic import KerasTensor, run, symbolic_parts
from gradwire.tf.keras.training import Trainer

__all__ = ["Functional", "Model"]


class Model(Trainer):
    """A layer that can be trained: a subclass with a ``call``, or ``Model(inputs, outputs)``."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """``Model(inputs, outputs)`` is a ``Functional``, and so is such a subclass."""
        kind = Functional if cls is Model and _are_symbolic(args, kwargs) else cls
        return super().__new__(kind, *args, **kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not isinstance(self, Functional) and _are_symbolic(args, kwargs):
            _base_on_graphs(type(self))
            Functional.__init__(cast(Functional, self), *args, **kwargs)
        else:
            super().__init__(*args, **kwargs)

    @property
    def layers(self) -> list[Any]:
        """The layers of the model, in order."""
        return list(self._owned())

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or by its place."""
        if index is not None and name is not None:
            raise ValueError(f"pass `name` or `index`, not both; got {name!r} and {index}")
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(f"there is no layer {index}; the model has {len(self.layers)}")
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
        """Print layers, shapes and numbers of weights, or give the text to ``print_fn``."""
        only(
            "Model.summary",
            line_length=(line_length, None),
            positions=(positions, None),
            layer_range=(layer_range, None),
        )
        print_fn("\n".join(summary_lines(self, expand_nested, show_trainable)))

    def save(
        self, filepath: Any, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
    ) -> None:
        """Write the model to a ``.keras`` file, as ``keras.models.save_model`` does."""
        files.save_model(self, filepath, overwrite=overwrite, zipped=zipped, **kwargs)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size: float | None = None
    ) -> None:
        """Write the weights to a file, which NumPy can read too."""
        only("Model.save_weights", max_shard_size=(max_shard_size, None))
        files.save_weights(self, filepath, overwrite)

    def load_weights(
        self, filepath: Any, skip_mismatch: bool = False, by_name: bool = False
    ) -> None:
        """Give the weights the values in a file that ``save_weights`` or Keras wrote.

        ``by_name`` gives them to layers of the same names alone, of a file of Keras 2.
        """
        only("Model.load_weights", skip_mismatch=(skip_mismatch, False))
        files.load_weights(self, filepath, by_name)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """A model by its arguments, or by its layers and how they are called."""
        if not {"layers", "input_layers", "output_layers"} <= set(config):
            with custom_object_scope(custom_objects):
                return super().from_config(config)
        inputs, outputs = wiring.read(config, custom_objects)
        made = cls(inputs, outputs, name=config.get("name"))
        if config.get("trainable") is False:
            made.trainable = False
        return made

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON, for ``keras.models.model_from_json``."""
        return json.dumps(files.configuration(self), **kwargs)


def _are_symbolic(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """True if arguments are inputs and outputs."""
    return bool(args and symbolic_parts(args)) or "inputs" in kwargs


def _base_on_graphs(kind: type) -> None:
    """Let a subclass of ``Model`` be one of ``Functional``, as Keras does at its first graph."""
    kind.__bases__ = tuple(Functional if base is Model else base for base in kind.__bases__)
    for base in kind.__bases__:
        if issubclass(base, Model) and not issubclass(base, Functional):
            _base_on_graphs(base)


class Functional(Model):
    """A model of what is computed between symbolic inputs and outputs."""

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        for what, given in (("inputs", inputs), ("outputs", outputs)):
            for part in tf.nest.flatten(given):
                if not isinstance(part, KerasTensor):
                    raise ValueError(
                        f"`{what}` must be symbolic tensors, as `Input` makes them; got {part}, a "
                        f"{type(part)}"
                    )
        self.inputs: list[KerasTensor] = symbolic_parts(inputs)
        self.outputs: list[KerasTensor] = symbolic_parts(outputs)
        self._nest, self._outputs = inputs, outputs
        calls = connected(self.inputs, self.outputs)
        self._run = [call for call in calls if call.inputs]
        self._operations = operations_in_order(self.inputs, self.outputs, calls)
        self._tracked[:] = [each for each in self._operations if isinstance(each, Layer)]
        self.output_names: list[str] = [part.call.operation.name for part in self.outputs]
        self.input_spec: Any = [
            InputSpec(shape=(None, *part.shape[1:]), allow_last_axis_squeeze=True, name=part.name)
            for part in self.inputs
        ]
        object.__setattr__(self, "built", True)

    @property
    def input(self) -> Any:
        """The symbolic inputs, nested as they were given."""
        return self._nest

    @property
    def output(self) -> Any:
        """The symbolic outputs, nested as they were given."""
        return self._outputs

    @property
    def input_shape(self) -> Any:
        """The shape of the input, or a list of shapes."""
        shapes = [part.shape for part in self.inputs]
        return shapes[0] if len(shapes) == 1 else shapes

    @property
    def output_shape(self) -> Any:
        """The shape of the output, or a list of shapes."""
        shapes = [part.shape for part in self.outputs]
        return shapes[0] if len(shapes) == 1 else shapes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; inputs may be a list, or a dictionary by their names."""
        return super().__call__(self._standardized(args[0]), *args[1:], **kwargs)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        given = [
            self._ranked(value, part)
            for value, part in zip(tf.nest.flatten(inputs), self.inputs, strict=True)
        ]
        if mask is not None:
            for value, each in zip(given, tf.nest.flatten(mask), strict=True):
                if each is not None:
                    set_mask(value, each)
        known = {id(part): value for part, value in zip(self.inputs, given, strict=True)}
        known = run(self._run, known, training)
        return tf.nest.map_structure(lambda part: known[id(part)], self._outputs)

    def _converted(self, value: Any) -> Any:
        """An input as tensors; each gets the dtype of its symbolic one in ``call``."""
        return tf.nest.map_structure(
            lambda part: tf.convert_to_tensor(part) if isinstance(part, np.ndarray) else part, value
        )

    def _standardized(self, inputs: Any) -> list[Any]:
        """The inputs in the order of the model's."""
        names = [part.name for part in self.inputs]
        if isinstance(inputs, dict):
            keys = list(self._nest) if isinstance(self._nest, dict) else names
            if not set(keys) <= set(inputs):
                raise ValueError(
                    f"Missing data for inputs: got {list(inputs)}, expected the keys {keys}"
                )
            order = sorted(keys) if isinstance(self._nest, dict) else keys
            return [inputs[key] for key in order]
        several = isinstance(inputs, (list, tuple)) and len(self.inputs) > 1
        values = list(inputs) if several else [inputs]
        if isinstance(inputs, (list, tuple)) and len(inputs) == 1 and hasattr(inputs[0], "shape"):
            values = [inputs[0]]
        if len(values) != len(self.inputs):
            raise ValueError(
                f'model "{self.name}" has {len(names)} inputs and got {len(values)}; pass a '
                f"dictionary with the keys {names}"
            )
        return values

    def _ranked(self, value: Any, part: KerasTensor) -> Any:
        """An input in its dtype, with a last axis of 1 more or less where that is missing."""
        mask = mask_of(value)
        value = tf.cast(value, part.dtype) if value.dtype.name != part.dtype else value
        wanted, shape = part.shape, tuple(value.shape)
        if len(shape) == len(wanted) + 1 and shape[-1] == 1:
            value = tf.squeeze(value, -1)
        elif len(shape) == len(wanted) - 1 and wanted[-1] == 1:
            value = tf.expand_dims(value, -1)
        elif len(shape) != len(wanted):
            raise ValueError(f"input '{part.name}' has shape {wanted}, which {shape} does not fit")
        set_mask(value, mask)
        return value

    def get_config(self) -> dict[str, Any]:
        """The layers and how they are called, if this is no subclass with a method of its own."""
        if type(self).__init__ is not Functional.__init__:
            return super().get_config()
        return {
            "name": self.name,
            "trainable": self.trainable,
            "layers": wiring.written(self._operations, self._run),
            "input_layers": wiring.references(self._nest, self._run),
            "output_layers": wiring.references(self._outputs, self._run),
        }
