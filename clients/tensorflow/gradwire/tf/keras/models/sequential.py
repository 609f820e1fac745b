"""Models of layers in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.inputs import InputLayer
from gradwire.tf.keras.models.base import Functional, Model
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object
from gradwire.tf.keras.symbolic import KerasTensor

__all__ = ["Sequential"]


class Sequential(Model):
    """Layers, each of which takes what the one before gives.

    It is built as soon as the shape of examples is known: by an ``Input``, by ``input_shape`` of
    the first layer, or by the first data.
    """

    #: The same as a graph, once the shape of examples is known.
    _graph: Functional | None

    def __init__(
        self, layers: Sequence[Any] | None = None, trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(trainable=trainable, name=name)
        object.__setattr__(self, "_graph", None)
        for layer in layers or ():
            self.add(layer, rebuild=False)
        if layers:
            self._rebuild()

    @property
    def layers(self) -> list[Any]:
        """The layers, but for the input's."""
        return [layer for layer in self._tracked if not isinstance(layer, InputLayer)]

    def add(self, layer: Any, rebuild: bool = True) -> None:
        """Append a layer."""
        shape = getattr(layer, "_input_shape", None)
        if shape is not None and not self._tracked:
            self.add(InputLayer(shape=shape))
        if isinstance(layer, KerasTensor):
            layer = layer.call.operation
        if not isinstance(layer, Layer):
            raise ValueError(f"a Sequential model is made of layers; got {layer}, a {type(layer)}")
        if any(layer.name == known.name and layer is not known for known in self._tracked):
            raise ValueError(
                f"the model has a layer named '{layer.name}' already; pass another `name`"
            )
        if isinstance(layer, InputLayer) and self._tracked:
            first = self._tracked[0]
            if isinstance(first, InputLayer):
                raise ValueError(
                    f"model '{self.name}' has an input of shape {first.batch_shape} already, and "
                    "takes no second one"
                )
        self._tracked.append(layer)
        if rebuild:
            self._rebuild()
        else:
            self._forget()

    def pop(self, rebuild: bool = True) -> Any:
        """Take the last layer away."""
        layer = self._tracked.pop()
        if rebuild:
            self._rebuild()
        else:
            self._forget()
        return layer

    def _forget(self) -> None:
        object.__setattr__(self, "built", False)
        object.__setattr__(self, "_graph", None)

    def _rebuild(self) -> None:
        self._forget()
        first = self._tracked[0] if self._tracked else None
        if isinstance(first, InputLayer) and len(self._tracked) > 1:
            self.build(first.batch_shape)
        elif isinstance(first, Model) and len(self._tracked) > 1:
            shape = getattr(first, "input_shape", None)
            if isinstance(shape, tuple):
                self.build(shape)

    def build(self, input_shape: Any = None) -> None:
        if not self._tracked:
            raise ValueError(f"model '{self.name}' has nothing to build; add a layer first")
        if not isinstance(input_shape, (tuple, list)) or any(
            not isinstance(length, int | None) for length in input_shape
        ):
            return
        first = self._tracked[0]
        if not isinstance(first, InputLayer):
            first = InputLayer(batch_shape=input_shape, dtype=first.compute_dtype)
            self._tracked.insert(0, first)
        elif tuple(first.batch_shape) != tuple(input_shape):
            raise ValueError(
                f"model '{self.name}' takes inputs of shape {first.batch_shape}; got `input_shape` "
                f"{input_shape}"
            )
        value = first.output
        for layer in self._tracked[1:]:
            value = layer(value)
        object.__setattr__(self, "_graph", Functional(first.output, value, name=self.name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs of the last layer; the first data say the shape if nothing else does."""
        shape = getattr(args[0], "shape", None) if args else None
        if self._graph is None and shape is not None and not self.built:
            self.build((None, *tuple(shape)[1:]))
        if self._graph is not None and not isinstance(args[0], KerasTensor):
            args = (self._graph._standardized(args[0])[0], *args[1:])
        return super().__call__(*args, **kwargs)

    def _converted(self, value: Any) -> Any:
        if self._graph is None:
            return super()._converted(value)
        return self._graph._converted(value)

    def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        if self._graph is not None:
            return self._graph.call(inputs, training=training, mask=mask)
        for layer in self.layers:
            inputs = layer(inputs, training=training)
        return inputs

    def _symbolic(self, what: str, wanted: str) -> Any:
        if self._graph is None:
            raise AttributeError(f"Sequential model '{self.name}' has no defined {what} yet.")
        return getattr(self._graph, wanted)

    @property
    def inputs(self) -> Any:
        """The symbolic input, in a list."""
        return self._symbolic("inputs", "inputs")

    @property
    def outputs(self) -> Any:
        """The symbolic output, in a list."""
        return self._symbolic("outputs", "outputs")

    @property
    def input(self) -> Any:
        """The symbolic input."""
        return self._symbolic("inputs", "input")

    @property
    def output(self) -> Any:
        """The symbolic output."""
        return self._symbolic("outputs", "output")

    @property
    def input_shape(self) -> Any:
        """The shape of the input, its first length None."""
        return self._symbolic("input shape", "input_shape")

    @property
    def output_shape(self) -> Any:
        """The shape of the output, its first length None."""
        return self._symbolic("output shape", "output_shape")

    @property
    def output_names(self) -> Any:
        """The name of the last layer, in a list; None where nothing is built."""
        return None if self._graph is None else self._graph.output_names

    def get_config(self) -> dict[str, Any]:
        """The layers, and the shape that they are built for."""
        config = {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": super().get_config()["dtype"],
            "layers": [serialize_keras_object(layer) for layer in self._tracked],
        }
        if self._graph is not None:
            config["build_input_shape"] = self._tracked[0].batch_shape
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """A model by its layers."""
        if "name" not in config:
            raise ValueError(f"the `config` of a Sequential model lacks 'name': {config}")
        made = cls(name=config["name"])
        for layer in config["layers"]:
            made.add(deserialize_keras_object(layer, custom_objects))
        shape = config.get("build_input_shape")
        if made._graph is None and shape is not None:
            made.build(tuple(shape))
        return made
