"""A function's arguments: their leaves' names, numbers to differentiate in, and substitutes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire.chunked import is_dask
from gradwire.hidden import plain
from gradwire.stored import RemoteArray
from gradwire.tracing.libraries import substitute_of
from gradwire.tracing.structures import Structure, flatten, is_array_like, paths, unflatten
from gradwire.trees import Level, Static


def with_substitutes(structure: Structure) -> Structure:
    """A structure of arguments with substitutes of the libraries' functions among them."""
    if isinstance(structure, Level):
        return replace(structure, parts=tuple(map(with_substitutes, structure.parts)))
    if isinstance(structure, Static) and (found := substitute_of(structure.value)) is not None:
        return Static(found)
    return structure


def with_floats(value: Any) -> Any:
    """Nested values with numbers to differentiate in, in place of integers."""
    leaves, structure = flatten(value, lambda part: type(part) is int or is_array_like(part))
    floats = [float(leaf) if type(leaf) is int else leaf for leaf in leaves]
    return unflatten(structure, iter(floats))


def copied(value: Any) -> Any:
    """Nested values with copies of the arrays among them, which may change before they are sent."""
    leaves, structure = flatten(value)
    return unflatten(structure, map(_copied, leaves))


def _copied(leaf: Any) -> Any:
    if isinstance(leaf, float | complex | np.generic | RemoteArray) or is_dask(leaf):
        return leaf  # cannot change
    return np.array(plain(leaf, "an argument"))


def leaf_names(python: Callable[..., Any], structure: Structure) -> list[str]:
    """The leaves' names, by the function's parameters."""
    try:
        parameters = list(inspect.signature(python).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    args, kwargs = structure.parts  # type: ignore[union-attr]  # a pair
    names: list[str] = []
    for i, part in enumerate(args.parts):  # type: ignore[union-attr]  # a tuple
        plain = i < len(parameters) and parameters[i].kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        names += paths(part, parameters[i].name if plain else f"x{i}")
    for name, part in zip(kwargs.keys, kwargs.parts, strict=True):  # type: ignore[union-attr]
        names += paths(part, name)
    return names
