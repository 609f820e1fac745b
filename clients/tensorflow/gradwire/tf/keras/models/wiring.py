"""Graphs of layers as plain values, in Keras's form, and made again from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object
from gradwire.tf.keras.symbolic import Call, KerasTensor

_TENSOR = "__keras_tensor__"


def written(operations: Sequence[Any], calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Layers and operations, each with its name and the arguments of its calls."""
    places = _places(calls)
    found = []
    for operation in operations:
        own = [call for call in calls if call.operation is operation]
        nodes = [{"args": list(call.args), "kwargs": call.kwargs} for call in own]
        found.append(
            {
                **serialize_keras_object(operation),
                "name": operation.name,
                "inbound_nodes": [_plain(node, places) for node in nodes],
            }
        )
    return found


def references(value: Any, calls: Sequence[Call]) -> Any:
    """Nested symbolic values as lists of an operation's name, a call's number and an output's."""
    places = _places(calls)
    return tf.nest.map_structure(lambda part: _reference(part, places), value)


def read(config: Mapping[str, Any], custom_objects: Any = None) -> tuple[Any, Any]:
    """The symbolic inputs and outputs of a graph, whose layers are made and called."""
    operations: dict[str, Any] = {}
    made: dict[tuple[str, int], list[Any]] = {}
    waiting: list[tuple[str, int, Any]] = []
    for each in config["layers"]:
        operation = deserialize_keras_object(each, custom_objects)
        name = each.get("name") or each["config"]["name"]
        operations[name] = operation
        if not each["inbound_nodes"]:
            made[name, 0] = [operation.output]
        waiting += [(name, i, node) for i, node in enumerate(each["inbound_nodes"])]
    while waiting:
        later = []
        for name, index, node in waiting:
            ready = all(key in made for key in _needed(node))
            if not ready or (index and (name, index - 1) not in made):
                later.append((name, index, node))
                continue
            args, kwargs = _symbolic(node["args"], made), _symbolic(node["kwargs"], made)
            outputs = operations[name](*args, **kwargs)
            made[name, index] = tf.nest.flatten(outputs)
        if len(later) == len(waiting):
            raise ValueError(f"the graph of layers is not complete: {[name for name, *_ in later]}")
        waiting = later
    return _referred(config["input_layers"], made), _referred(config["output_layers"], made)


def _places(calls: Sequence[Call]) -> dict[int, int]:
    """The number of each call among those of its operation."""
    counts: dict[int, int] = {}
    places = {}
    for call in calls:
        places[id(call)] = counts.get(id(call.operation), 0)
        counts[id(call.operation)] = places[id(call)] + 1
    return places


def _reference(part: KerasTensor, places: Mapping[int, int]) -> list[Any]:
    parts = tf.nest.flatten(part.call.outputs)
    index = next(i for i, each in enumerate(parts) if each is part)
    return [part.call.operation.name, places.get(id(part.call), 0), index]


def _plain(value: Any, places: Mapping[int, int]) -> Any:
    if isinstance(value, KerasTensor):
        history = _reference(value, places)
        config = {"shape": value.shape, "dtype": value.dtype, "keras_history": history}
        return {"class_name": _TENSOR, "config": config}
    if isinstance(value, dict):
        return {key: _plain(part, places) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_plain(part, places) for part in value])
    if isinstance(value, slice):
        bounds = [value.start, value.stop, value.step]
        return {"class_name": "__slice__", "config": bounds}
    if value is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    return serialize_keras_object(value)


def _needed(value: Any) -> list[tuple[str, int]]:
    if isinstance(value, Mapping):
        if value.get("class_name") == _TENSOR:
            name, index, _ = value["config"]["keras_history"]
            return [(name, index)]
        return [key for part in value.values() for key in _needed(part)]
    if isinstance(value, (list, tuple)):
        return [key for part in value for key in _needed(part)]
    return []


def _symbolic(value: Any, made: Mapping[tuple[str, int], list[Any]]) -> Any:
    if isinstance(value, Mapping):
        kind, inner = value.get("class_name"), value.get("config")
        if kind == _TENSOR:
            name, index, output = value["config"]["keras_history"]
            return made[name, index][output]
        if kind == "__slice__":
            return slice(*(inner.values() if isinstance(inner, Mapping) else inner or ()))
        if kind == "__ellipsis__":
            return Ellipsis
        if kind is None:
            return {key: _symbolic(part, made) for key, part in value.items()}
        return deserialize_keras_object(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_symbolic(part, made) for part in value])
    return value


def _referred(value: Any, made: Mapping[tuple[str, int], list[Any]]) -> Any:
    if isinstance(value, Mapping):
        return {key: _referred(part, made) for key, part in value.items()}
    if len(value) == 3 and isinstance(value[0], str):
        name, index, output = value
        return made[name, index][output]
    return type(value)([_referred(part, made) for part in value])
