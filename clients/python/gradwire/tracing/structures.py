"""Nested arguments as a list of their arrays and a structure, and back.

Levels are dictionaries, lists, tuples, named tuples and dataclasses. What can be differentiated or
computed with is a leaf: arrays, and Python's ``float`` and ``complex``. Everything else (strings,
``None``, booleans, integers, functions, objects) belongs to the structure: a function is traced
anew for each, as its Python code may do anything with it. ``np.int64(3)`` is an integer as a value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from gradwire.tracing.recordable import unwrapped


class Itself:
    """A value that cannot be hashed, equal to itself alone."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True)
class Static:
    """A value that is part of the structure."""

    value: Any = field(compare=False)
    key: Any


@dataclass(frozen=True, slots=True)
class Level:
    """A nesting level: its type and its parts."""

    #: The type, and what it needs besides the parts.
    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class LeafPlace:
    """A leaf's place."""


Structure: TypeAlias = "Level | Static | LeafPlace"
LEAF = LeafPlace()


def flatten(
    value: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], Structure]:
    """The leaves of nested values, in order, and the structure that holds them."""
    leaves: list[Any] = []
    return leaves, _structure(value, leaves, is_leaf or is_array_like)


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Values nested by a structure, with these leaves."""
    if isinstance(structure, LeafPlace):
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    kind: Any = structure.kind
    parts = [unflatten(part, leaves) for part in structure.parts]
    if kind is tuple or kind is list:
        return kind(parts)
    if issubclass(kind, Mapping):
        pairs = dict(zip(structure.keys, parts, strict=True))
        return pairs if kind is dict else kind(pairs)
    if dataclasses.is_dataclass(kind):
        return _dataclass_of(kind, dict(zip(structure.keys, parts, strict=True)))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*parts)
    return kind(parts)


def paths(structure: Structure, path: str) -> list[str]:
    """The leaves' paths, such as ``params.layers[0].w``, in order."""
    if isinstance(structure, LeafPlace):
        return [path]
    if isinstance(structure, Static):
        return []
    found = []
    for key, part in zip(structure.keys, structure.parts, strict=True):
        found += paths(part, f"{path}.{key}" if isinstance(key, str) else f"{path}[{key!r}]")
    return found


def is_array_like(value: Any) -> bool:
    """True for numbers and arrays of any library, but not for Python's integers."""
    return isinstance(value, (float, complex, np.ndarray, np.generic)) or (
        hasattr(value, "__array__") and not isinstance(value, type)
    )


def _structure(value: Any, leaves: list[Any], is_leaf: Callable[[Any], bool]) -> Structure:
    if is_leaf(value):
        leaves.append(unwrapped(value))
        return LEAF
    level = level_of(value)
    if level is None:
        return Static(value, (type(value), hashable(value)))  # True is not 1 here
    keys, parts = level
    return Level(type(value), keys, tuple([_structure(part, leaves, is_leaf) for part in parts]))


def level_of(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """The keys and parts of a nesting level; ``None`` for any other value."""
    if isinstance(value, Mapping):
        return tuple(value), list(value.values())
    if isinstance(value, (list, tuple)):
        return getattr(value, "_fields", None) or tuple(range(len(value))), value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        keys = tuple([field.name for field in dataclasses.fields(value)])
        return keys, [getattr(value, name) for name in keys]
    return None


def hashable(value: Any) -> Any:
    """The value itself, or one that is equal to nothing else."""
    try:
        hash(value)
    except TypeError:
        return Itself(value)
    return value


def _dataclass_of(kind: Any, fields: Mapping[str, Any]) -> Any:
    made: Any = object.__new__(kind)  # as copy does: no __init__ may check or change what was given
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made
