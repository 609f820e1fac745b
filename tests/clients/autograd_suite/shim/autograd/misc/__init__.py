"""autograd's flattening of nested values."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradwire.tracing.recorded import is_number
from gradwire.tracing.structures import flatten as leaves_of
from gradwire.tracing.structures import unflatten as nested


def flatten(value: Any) -> Any:
    """A vector of all numbers of nested values, and the way back."""
    leaves, structure = leaves_of(value, is_number)
    shapes = [np.shape(leaf) for leaf in leaves]
    ends = np.cumsum([np.size(leaf) for leaf in leaves])

    def unflatten(vector: Any) -> Any:
        parts = np.split(vector, ends[:-1])
        shaped = [np.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        return nested(structure, iter(shaped))

    return np.concatenate([np.reshape(leaf, -1) for leaf in leaves]), unflatten


def const_graph(*_: Any) -> Any:
    raise NotImplementedError("const_graph is autograd's own")
