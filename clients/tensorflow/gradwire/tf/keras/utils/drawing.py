"""Pictures of models, which Graphviz draws."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from gradwire import NotInstalled
from gradwire.tf.arguments import only
from gradwire.tf.keras.symbolic import Call

__all__ = ["model_to_dot", "plot_model"]

_NEEDED = "plot_model draws with the program dot of graphviz"
_HOW = "install it: https://graphviz.org/download/"


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    subgraph: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    **kwargs: Any,
) -> str:
    """The layers of a model and what leads to what, as text in Graphviz's language."""
    only("model_to_dot", expand_nested=(expand_nested, False), subgraph=(subgraph, False))
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
    graph = getattr(model, "_graph", None) or model
    lines = [f"digraph {_quoted(model.name)} {{", f"  rankdir={rankdir}; dpi={dpi};"]
    lines.append("  node [shape=box];")
    for layer in graph._operations if hasattr(graph, "_operations") else model.layers:
        text = [f"{layer.name} ({type(layer).__name__})" if show_layer_names else _kind(layer)]
        call = next(iter(getattr(layer, "_calls", ())), None)
        if show_layer_activations and hasattr(layer, "activation"):
            text.append(f"activation: {getattr(layer.activation, '__name__', layer.activation)}")
        if show_shapes:
            text.append(f"output shape: {_shape(call)}")
        if show_dtype:
            text.append(f"dtype: {getattr(layer, 'dtype', '?')}")
        if show_trainable:
            text.append(f"trainable: {getattr(layer, 'trainable', '?')}")
        label = "\\n".join(each.replace('"', '\\"') for each in text)
        lines.append(f'  n{id(layer)} [label="{label}"];')
    lines += [
        f"  n{id(part.call.operation)} -> n{id(each.operation)};"
        for each in getattr(graph, "_run", ())
        for part in each.inputs
    ]
    return "\n".join([*lines, "}"])


def plot_model(
    model: Any,
    to_file: Any = "model.png",
    show_shapes: bool = False,
    show_dtype: bool = False,
    show_layer_names: bool = False,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 200,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
    **kwargs: Any,
) -> None:
    """Draw a model to a file by Graphviz's ``dot``; the end of its name says the format.

    Raises:
        NotInstalled: where there is no ``dot``.
    """
    if not model.built:
        raise ValueError("the model has no weights yet; build it, or call it on some data")
    text = model_to_dot(
        model,
        show_shapes=show_shapes,
        show_dtype=show_dtype,
        show_layer_names=show_layer_names,
        rankdir=rankdir,
        expand_nested=expand_nested,
        dpi=dpi,
        show_layer_activations=show_layer_activations,
        show_trainable=show_trainable,
        **kwargs,
    )
    path = Path(to_file)
    dot = shutil.which("dot")
    if dot is None:
        raise NotInstalled(_NEEDED, hint=_HOW)
    kind = path.suffix.removeprefix(".") or "png"
    command = [dot, f"-T{kind}", "-o", str(path)]
    subprocess.run(command, input=text.encode(), check=True)  # noqa: S603 - dot, no shell


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'


def _kind(layer: Any) -> str:
    return getattr(layer, "_class_name", type(layer).__name__)


def _shape(call: Call | None) -> str:
    outputs = None if call is None else call.outputs
    if isinstance(outputs, (list, tuple)):
        return ", ".join(str(part.shape) for part in outputs)
    return str(getattr(outputs, "shape", "?"))
