"""The variables of a request: flattened to leaves with paths, and laid out for the recorder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwire_engine import hints
from gradwire_engine.answer import Leaf
from gradwire_engine.errors import InputError, Place, UnknownName
from gradwire_engine.ops.builder import Builder, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import is_position, refolded
from gradwire_engine.record.scope import State
from gradwire_engine.tape import ArrayType


def lay_out(b: Builder, variables: Mapping[str, Any], state: State) -> dict[str, Any]:
    """The variables as the program sees them, an input for each array.

    A dotted key is the path of a nested variable and is laid out as one.
    """
    tree: dict[str, Any] = {}
    for name, value in variables.items():
        _place_below(b, name, value, tree, name, state)
    return tree


def _place_below(b: Builder, path: str, value: Any, container: Any, key: str, state: State) -> None:
    """Place ``value`` at a key of a dict, which may be a path."""
    for part in key.split("."):
        if (refusal := refolded(part)) is not None:
            message, hint = refusal
            raise InputError(message, at=Place(id=path[:80], pointer="/variables"), hint=hint)
    while "." in key:
        head, _, key = key.partition(".")
        container = container.setdefault(head, {})
        if not _is_level(container):
            raise _taken(path)
    if key in container and not (_is_level(container[key]) and _is_level(value)):
        raise _taken(path)
    _place(b, path, value, container, key, state)


def _is_level(value: Any) -> bool:
    return isinstance(value, Mapping) and not isinstance(value, Composite)


def _taken(path: str) -> InputError:
    return InputError(
        "another variable has this name already", at=Place(id=path[:80], pointer="/variables")
    )


def _place(b: Builder, path: str, value: Any, container: Any, key: Any, state: State) -> None:
    if isinstance(value, Leaf):
        array = value.value
        if isinstance(array, str):
            container[key] = array
            return
        container[key] = var = b.input(ArrayType(array.dtype, array.shape))
        state.declare(path, container, key, var)
        if value.any_shape:
            state.any_shape.add(path)
    elif isinstance(value, Composite):
        container[key] = parts = value.of()
        for name, item in value.items():
            _place(b, f"{path}.{name}", item, parts, name, state)
    elif isinstance(value, Mapping):
        level = container.setdefault(key, {}) if isinstance(container, dict) else {}
        container[key] = level
        for name, item in value.items():
            _place_below(b, f"{path}.{name}", item, level, name, state)
    else:
        items: list[Any] = [None] * len(value)
        container[key] = items
        for i, item in enumerate(value):
            _place(b, f"{path}.{i}", item, items, i, state)


def member(value: Any, path: str) -> Any:
    """The value at a dotted ``path`` below ``value``."""
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list | tuple) and is_position(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            raise _no_member(value, part)
    return value


def _no_member(value: Any, part: str) -> UnknownName:
    if isinstance(value, dict | list | tuple):
        known = value if isinstance(value, dict) else map(str, range(len(value)))
        message = f"there is no '{part[:40]}' in this nested value"
        return UnknownName(message, hint=hints.like(part, known))
    message = f"{describe(value)} has no member '{part[:40]}'"
    return UnknownName(message, hint=hints.OF_ELEMENTS)
