"""Copies of models, with weights drawn anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.inputs import InputLayer
from gradwire.tf.keras.models.base import Functional, Model
from gradwire.tf.keras.models.sequential import Sequential
from gradwire.tf.keras.symbolic import KerasTensor, Operation

__all__ = ["clone_model"]


def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Any = None,
    recursive: bool = False,
    **kwargs: Any,
) -> Any:
    """A model of new layers with the same configurations; ``clone_function`` makes each of them.

    Raises:
        ValueError: for models that are subclasses, of whose calls nothing is known.
    """
    only(
        "clone_model",
        input_tensors=(input_tensors, None),
        call_function=(call_function, None),
        recursive=(recursive, False),
    )
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs.keys())}")
    if isinstance(model, Sequential):
        return _sequential(model, clone_function)
    if isinstance(model, Functional):
        return _functional(model, clone_function)
    raise ValueError(
        f"clone_model copies a Sequential or a Functional model, whose calls it knows; got {model}"
    )


def _copied(layer: Any, clone_function: Callable[[Any], Any] | None) -> Any:
    if isinstance(layer, Operation):
        return layer.again()
    if isinstance(layer, InputLayer) or clone_function is None:
        return type(layer).from_config(layer.get_config())
    if isinstance(layer, Model):
        return clone_model(layer, clone_function=clone_function)
    return clone_function(layer)


def _sequential(model: Sequential, clone_function: Callable[[Any], Any] | None) -> Any:
    layers = [_copied(layer, clone_function) for layer in model._tracked]
    return Sequential(layers, name=model.name, trainable=model.trainable)


def _functional(model: Functional, clone_function: Callable[[Any], Any] | None) -> Any:
    made: dict[int, Any] = {}

    def once(operation: Any) -> Any:
        if id(operation) not in made:
            made[id(operation)] = _copied(operation, clone_function)
        return made[id(operation)]

    known = {id(part): _input(part, once) for part in model.inputs}
    for call in model._run:
        args, kwargs = tf.nest.map_structure(
            lambda part: known[id(part)] if isinstance(part, KerasTensor) else part,
            (call.args, call.kwargs),
        )
        outputs = once(call.operation)(*args, **kwargs)
        for part, value in zip(
            tf.nest.flatten(call.outputs), tf.nest.flatten(outputs), strict=True
        ):
            known[id(part)] = value
    inputs, outputs = tf.nest.map_structure(
        lambda part: known[id(part)], (model._nest, model._outputs)
    )
    return Functional(inputs, outputs, name=model.name, trainable=model.trainable)


def _input(part: KerasTensor, once: Callable[[Any], Any]) -> Any:
    if part.call.inputs:  # in the middle of another graph
        return InputLayer(batch_shape=part.shape, dtype=part.dtype).output
    return once(part.call.operation).output
