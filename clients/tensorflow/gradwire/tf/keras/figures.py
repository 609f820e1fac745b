"""Reports of steps: figures by their names, and the outputs of batches joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def flat(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures by their names, those of a metric with several in its place."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        found |= value if isinstance(value, Mapping) else {name: value}
    return found


def plain(figures: Any) -> dict[str, Any]:
    """Figures as numbers, by their names in order."""
    found = {}
    for name, value in sorted(flat(figures or {}).items()):
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        found[name] = float(array) if array.ndim == 0 else array
    return found


def joined(found: list[Any]) -> Any:
    """The outputs of batches along their first axis."""
    first = found[0]
    if isinstance(first, dict):
        return {key: joined([each[key] for each in found]) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)([joined([each[i] for each in found]) for i in range(len(first))])
    return np.concatenate(found, axis=0)
