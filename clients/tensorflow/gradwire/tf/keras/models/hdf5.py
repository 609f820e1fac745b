"""Models and weights in HDF5, as Keras writes them: read by h5py, where it is installed.

Keras 3 has a group for each layer, by the attributes and lists that lead to it
(``layers/lstm/cell/vars/0``), in ``.weights.h5`` and in the archive ``.keras``. Keras 2 has one for
each layer by its name, which lists its weights, in ``.h5``; a whole model also has its
configuration there, as JSON of an older form. What does not fit a model exactly is refused.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.names import snake_case
from gradwire.tf.keras.seeds import SeedGenerator

#: The first bytes of a file.
MAGIC = b"\x89HDF\r\n\x1a\n"
#: Modules of what older configurations name without one.
_PLACES = (
    "layers",
    "models",
    "initializers",
    "regularizers",
    "constraints",
    "optimizers",
    "losses",
)
#: Arguments of older layers that have one value here, or none.
_DROPPED = {
    "time_major", "input_length", "implementation", "ragged", "sparse", "module", "function_type",
    "output_shape_type", "output_shape_module", "batch_input_shape",
}  # fmt: skip


@contextlib.contextmanager
def opened(file: Any, what: str) -> Iterator[Any]:
    """A file for reading.

    Raises:
        NotImplementedError: h5py is not installed.
    """
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise NotImplementedError(
            f"{what} is HDF5, which h5py reads: pip install gradwire-tf[hdf5]"
        ) from None
    with h5py.File(file, "r") as found:
        yield found


def is_nested(group: Any) -> bool:
    """True if Keras 3 wrote it."""
    return "layer_names" not in group.attrs and "layer_names0" not in group.attrs


def read_nested(model: Any, group: Any) -> None:
    """Give a model's weights the values of a group that Keras 3 wrote.

    Raises:
        ValueError: it has other weights, or not all.
    """
    given: set[int] = set()
    _read(model, group, given, "")
    missing = [weight.path for weight in model.weights if id(weight) not in given]
    if missing:
        raise ValueError(f"the file has no values for {missing}")


def optimizer_values(group: Any) -> list[Any]:
    """The variables of an optimizer in such a group."""
    found = group.get("optimizer/vars")
    return [] if found is None else _in_order(found)


def _read(owner: Any, group: Any, given: set[int], path: str) -> None:
    for name, below in group.items():
        place = f"{path}/{name}".strip("/")
        if name == "vars":
            if isinstance(owner, SeedGenerator):
                first, second = below["0"][()]
                owner._pair = int(first), int(second)
            elif len(below):
                own = sorted(owner._weights, key=lambda weight: not weight.trainable)
                _give(own, _in_order(below), given, place)
        elif path == "" and name == "optimizer":
            continue
        else:
            child = owner.layers if name == "layers" else getattr(owner, name, None)
            if isinstance(child, (Layer, SeedGenerator)):
                _read(child, below, given, place)
            elif isinstance(child, (list, tuple, dict)):
                children = _numbered(child.values() if isinstance(child, dict) else child)
                for each, inner in below.items():
                    if each in children:
                        _read(children[each], inner, given, f"{place}/{each}")
                    elif _has_values(inner):
                        raise ValueError(f"the model has no layer for {place}/{each} of the file")
            elif _has_values(below):
                raise ValueError(f"the model has nothing for {place} of the file")


def _numbered(layers: Iterable[Any]) -> dict[str, Any]:
    """Layers by the names of their classes, with numbers from the second of a class on."""
    found: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for each in layers:
        name = snake_case(type(each).__name__)
        number = counts[name] = counts.get(name, -1) + 1
        found[f"{name}_{number}" if number else name] = each
    return found


def _in_order(group: Any) -> list[Any]:
    return [group[str(i)][()] for i in range(len(group))]


def _has_values(group: Any) -> bool:
    """True if there is an array in a group, however deep."""
    return not hasattr(group, "items") or any(_has_values(each) for each in group.values())


def _give(weights: Sequence[Any], values: Sequence[Any], given: set[int], place: str) -> None:
    shapes = [tuple(weight.shape) for weight in weights], [np.shape(each) for each in values]
    if shapes[0] != shapes[1]:
        raise ValueError(f"{place} of the file has shapes {shapes[1]}; the model has {shapes[0]}")
    for weight, value in zip(weights, values, strict=True):
        weight.assign(value)
        given.add(id(weight))


def read_listed(model: Any, group: Any, by_name: bool = False) -> None:
    """Give a model's weights the values of a group that Keras 2 wrote, in their order or by name.

    Raises:
        ValueError: it has other layers or weights.
    """
    listed = {name: _listed(group[name]) for name in _texts(group, "layer_names")}
    listed = {name: found for name, found in listed.items() if found}
    layers = [layer for layer in model.layers if layer.weights]
    if by_name:
        layers = [layer for layer in layers if layer.name in listed]
        listed = {layer.name: listed[layer.name] for layer in layers}
    if len(listed) != len(layers):
        raise ValueError(
            f"the file has {len(listed)} layers with weights, the model has {len(layers)}"
        )
    for layer, (name, found) in zip(layers, listed.items(), strict=True):
        weights = [*layer.trainable_weights, *layer.non_trainable_weights]
        if not layer.trainable:
            weights = sorted(layer.weights, key=lambda weight: not weight.trainable)
        names = [each.rpartition("/")[2].partition(":")[0] for each, _ in found]
        ours = [weight.name.rpartition("/")[2] for weight in weights]
        if names != ours and sorted(names) == sorted(ours):
            raise ValueError(f"{name} of the file has {names}; the model's layer has {ours}")
        _give(weights, [value for _, value in found], set(), name)


def _texts(group: Any, name: str) -> list[str]:
    """An attribute of texts, which may be in parts."""
    parts = [name] if name in group.attrs else []
    while f"{name}{len(parts)}" in group.attrs:
        parts.append(f"{name}{len(parts)}")
    found = [each for part in parts for each in group.attrs[part]]
    return [each.decode() if isinstance(each, bytes) else str(each) for each in found]


def _listed(group: Any) -> list[tuple[str, Any]]:
    return [(name, group[name][()]) for name in _texts(group, "weight_names")]


def configuration(file: Any) -> dict[str, Any] | None:
    """The configuration of a whole model, in the form of Keras 3; None of weights alone."""
    text = file.attrs.get("model_config")
    if text is None:
        return None
    found: dict[str, Any] = newer(json.loads(text))
    return found


def training(file: Any) -> dict[str, Any] | None:
    """The arguments of ``compile``, in the form of Keras 3."""
    text = file.attrs.get("training_config")
    if text is None:
        return None
    config = json.loads(text)
    kept = {name: config.get(name) for name in ("loss", "metrics", "loss_weights")}
    found: dict[str, Any] = newer({"optimizer": config.get("optimizer_config", "rmsprop"), **kept})
    return found


def newer(config: Any) -> Any:
    """A configuration of Keras 2 in the form of Keras 3."""
    if isinstance(config, list):
        return [newer(part) for part in config]
    if not isinstance(config, dict):
        return config
    if "class_name" not in config or "config" not in config:
        return {name: newer(part) for name, part in config.items()}
    if str(config["class_name"]).startswith("__"):
        return config
    name, inner = config["class_name"], config["config"]
    place = next((each for each in _PLACES if _is_in(each, name)), None)
    if isinstance(inner, list):  # of the first Sequential models
        inner = {"name": "sequential", "layers": inner}
    if "layers" in inner and "input_layers" in inner:
        names = [each["config"]["name"] for each in inner["layers"]]
        inner = inner | {"layers": [_with_nodes(each, names) for each in inner["layers"]]}
        for ends in ("input_layers", "output_layers"):  # one tensor is no list
            if len(inner[ends]) == 1:
                inner[ends] = inner[ends][0]
        if name == "Model":
            name = "Functional"
        place = "src.models.functional" if name == "Functional" else place
    if config.get("module") is not None:
        return config | {"config": newer(inner)}
    found = {**config, "class_name": name, "config": _arguments(name, inner)}
    found["module"] = None if place is None else f"keras.{place}".replace("keras.models", "keras")
    found["registered_name"] = None if place is not None else config.get("registered_name") or name
    return found


def _is_in(place: str, name: str) -> bool:
    return hasattr(import_module(f"gradwire.tf.keras.{place}"), name)


def _arguments(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an older object's class."""
    found = {key: newer(part) for key, part in config.items() if key not in _DROPPED}
    shape = config.get("batch_input_shape")
    if shape is not None:
        found |= {"batch_shape": shape} if name == "InputLayer" else {"input_shape": shape[1:]}
    if name == "BatchNormalization" and isinstance(found.get("axis"), list):
        found["axis"] = found["axis"][0]
    if name == "LeakyReLU" and "alpha" in found:
        found["negative_slope"] = found.pop("alpha")
    if name == "Lambda" and isinstance(config.get("function"), list):
        code, defaults, closure = config["function"]
        parts = {"code": code, "defaults": defaults, "closure": closure}
        found["function"] = {"class_name": "__lambda__", "config": parts}
    elif name == "Lambda" and isinstance(config.get("function"), str):
        function = config["function"]
        found["function"] = {
            "class_name": "function", "config": function, "registered_name": function
        }  # fmt: skip
    if name in ("Adam", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl"):
        kept = ("decay", "is_legacy_optimizer", "jit_compile", "lr")
        if config.get("decay"):
            raise NotImplementedError(
                f"{name} of the file decays its rate by `decay`; load with compile=False"
            )
        rate = config.get("lr", config.get("learning_rate"))
        found = {key: part for key, part in found.items() if key not in kept}
        found["learning_rate"] = newer(rate)
    return found


def _with_nodes(layer: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A layer in a graph, with its calls in the form of Keras 3."""

    def tensor(at: Sequence[Any]) -> dict[str, Any]:
        return {"class_name": "__keras_tensor__", "config": {"keras_history": list(at[:3])}}

    def plain(value: Any) -> Any:
        if isinstance(value, list) and len(value) == 3 and value[0] in names:
            return tensor(value)
        return value

    nodes = []
    for node in layer["inbound_nodes"]:
        if isinstance(node, dict):
            nodes.append(node)
            continue
        inputs = [node] if isinstance(node[0], str) else node
        kwargs = {
            key: plain(part) for each in inputs for key, part in (each[3:4] or [{}])[0].items()
        }
        given = [tensor(each) for each in inputs]
        nodes.append({"args": [given[0] if len(given) == 1 else given], "kwargs": kwargs})
    name = layer.get("name") or layer["config"]["name"]
    found: dict[str, Any] = newer({**layer, "name": name}) | {"inbound_nodes": nodes}
    return found
