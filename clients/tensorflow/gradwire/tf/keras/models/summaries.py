"""The summary of a model, as text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_HEAD = ("Layer (type)", "Output Shape", "Param #")


def summary_lines(model: Any, expand_nested: bool, show_trainable: bool) -> Iterator[str]:
    """A table of layers, the shapes of their outputs and their numbers of weights; then sums."""
    head = (*_HEAD, "Trainable") if show_trainable else _HEAD
    rows = [head, *_rows(model, expand_nested, show_trainable, "")]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    yield f'Model: "{model.name}"'
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    trained = model.trainable_weights
    fixed = model.non_trainable_weights
    kept = getattr(model.optimizer, "variables", None) or []
    yield f" Total params: {_size([*trained, *fixed, *kept])}"
    yield f" Trainable params: {_size(trained)}"
    yield f" Non-trainable params: {_size(fixed)}"
    if kept:
        yield f" Optimizer params: {_size(kept)}"


def _rows(model: Any, nested: bool, trainable: bool, indent: str) -> Iterator[tuple[str, ...]]:
    for layer in model.layers:
        calls = getattr(layer, "_calls", None)
        shape = str(_shapes(calls[0].outputs)) if calls else "?"
        count = f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"
        row = (f"{indent}{layer.name} ({type(layer).__name__})", shape, count)
        yield (*row, "Y" if layer.trainable else "N") if trainable else row
        if nested and hasattr(layer, "layers"):
            yield from _rows(layer, nested, trainable, f"{indent}  ")


def _shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_shapes(part) for part in value]
    if isinstance(value, dict):
        return {key: _shapes(part) for key, part in value.items()}
    return value.shape


def _size(weights: list[Any]) -> str:
    count = sum(math.prod(weight.shape) for weight in weights)
    size = float(sum(math.prod(weight.shape) * weight.dtype.size for weight in weights))
    units = iter(("B", "KB", "MB", "GB"))
    unit = next(units)
    while size >= 1024 and unit != "GB":
        size, unit = size / 1024, next(units)
    return f"{count:,} ({size:.2f} {unit})"
