"""Nested values: lists, tuples and dicts, whose leaves are arrays or what stands for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradwire_engine.answer import Leaf
from gradwire_engine.ops.builder import check_nesting
from gradwire_engine.ops.composites import Composite


def leaves(nested: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, in order; of a sparse tensor, its values."""
    check_nesting(nested)
    return _leaves(nested)


def _leaves(nested: Any) -> list[Any]:
    if isinstance(nested, Composite):
        return [nested["values"]]
    if isinstance(nested, dict):
        return [leaf for item in nested.values() for leaf in _leaves(item)]
    if isinstance(nested, list | tuple):
        return [leaf for item in nested for leaf in _leaves(item)]
    return [nested]


def rebuild(nested: Any, replace: Callable[[Any], Any]) -> Any:
    """The same nesting with every leaf replaced, in order."""
    check_nesting(nested)
    return _rebuild(nested, replace)


def _rebuild(nested: Any, replace: Callable[[Any], Any]) -> Any:
    if isinstance(nested, Composite):
        return nested.of(values=replace(nested["values"]))
    if isinstance(nested, dict):
        return {key: _rebuild(item, replace) for key, item in nested.items()}
    if isinstance(nested, list | tuple):
        return type(nested)([_rebuild(item, replace) for item in nested])
    return replace(nested)


def arrays(nested: Any) -> Any:
    """The same nesting with the values alone of each tensor in parts."""
    if isinstance(nested, Composite):
        return nested["values"]
    if isinstance(nested, dict):
        return {key: arrays(item) for key, item in nested.items()}
    if isinstance(nested, list | tuple):
        return type(nested)([arrays(item) for item in nested])
    return nested


def flatten(variables: Mapping[str, Any]) -> list[tuple[str, Leaf]]:
    """All leaves with their dotted paths, in the order of the request."""
    found: list[tuple[str, Leaf]] = []
    for name, value in variables.items():
        if isinstance(value, Leaf):
            found.append((name, value))
        else:
            found.extend(below(name, value))
    return found


def below(path: str, value: Any) -> Iterator[tuple[str, Leaf]]:
    """The leaves of a variable with their dotted paths."""
    if isinstance(value, Leaf):
        yield path, value
        return
    parts = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, item in parts:
        yield from below(f"{path}.{key}", item)
