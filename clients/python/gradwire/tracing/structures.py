"""Nested arguments of recorded functions as a list of their leaves and a structure, and back.

What can be differentiated or computed with is a leaf: arrays, and Python's ``float`` and
``complex``. Everything else (strings, ``None``, booleans, integers, functions, objects) belongs to
the structure: a function is traced anew for each, as its Python code may do anything with it.
``np.int64(3)`` is an integer as a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire import trees
from gradwire.tracing.lazy_arrays import unwrapped
from gradwire.trees import LEAF, Structure, paths, unflatten

__all__ = [
    "LEAF",
    "Structure",
    "flatten",
    "is_array_like",
    "parameter_leaves",
    "paths",
    "unflatten",
]


def is_array_like(value: Any) -> bool:
    """True for numbers and arrays of any library, but not for Python's integers."""
    return isinstance(value, (float, complex, np.ndarray, np.generic)) or (
        hasattr(value, "__array__") and not isinstance(value, type)
    )


def flatten(
    value: Any, is_leaf: Callable[[Any], bool] = is_array_like
) -> tuple[list[Any], Structure]:
    """The leaves of nested values, in order, and the structure that holds them."""
    leaves, structure = trees.flatten(value, is_leaf)
    return [unwrapped(leaf) for leaf in leaves], structure


def parameter_leaves(like: Any) -> tuple[list[Any], Structure]:
    """The leaves of what moves: integers are some, and a list of numbers is an array."""
    is_array = trees.is_list(like) and like and trees.members(like) is None
    return flatten(np.asarray(like) if is_array else like, _is_parameter)


def _is_parameter(value: Any) -> bool:
    return is_array_like(value) or (isinstance(value, int) and not isinstance(value, bool))
