"""Nested values: what is a nesting level, what is a leaf, and how a name finds one."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeGuard

import numpy as np


class DataclassInstance(Protocol):
    """Any instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


#: Values nested in mappings, sequences, named tuples and dataclasses; the outermost goes by name.
Variables: TypeAlias = "Mapping[str, Any] | DataclassInstance"
#: Names nested in lists and mappings; ``None`` leaves stay ``None``.
Names: TypeAlias = "str | Sequence[Names] | Mapping[str, Names] | None"

#: What ``lookup`` finds for a name that is not a variable's.
MISSING: Final = object()

NONFINITE = frozenset({"NaN", "Infinity", "-Infinity"})
LEAF_MEMBERS = frozenset({"value", "base64", "data", "ref", "indices", "row_splits"})


def outermost(variables: Any) -> Mapping[str, Any]:
    """The variables by name: never a leaf, whatever they are called."""
    inside = variables if isinstance(variables, Mapping) else members(variables)
    if not isinstance(inside, Mapping):
        raise TypeError(
            f"variables go by name, in a mapping or a dataclass, not in a "
            f"{type(variables).__name__}"
        )
    return inside


def members(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    """What a nesting level holds, by name or by position; ``None`` for a leaf.

    A list of numbers, however deep, is a leaf, namely an array. A list with an array in it is a
    nesting level: ``[w, b]`` is two variables.
    """
    if isinstance(value, Mapping):
        return None if is_wire_leaf(value) else value
    if is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: getattr(value, name) for name in fields}
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return dict(zip(names, value, strict=True))
    if is_list(value):
        return None if all(_is_number(item) for item in flat(value)) else value
    return None


def rebuild(template: Any, parts: Mapping[str, Any] | Sequence[Any]) -> Any:
    """A nesting level like the template's, with other parts."""
    if not isinstance(parts, Mapping):
        return tuple(parts) if isinstance(template, tuple) else list(parts)
    if is_dataclass(template):
        return dataclasses.replace(template, **parts)
    return type(template)(**parts) if isinstance(template, tuple) else dict(parts)


def lookup(variables: Any, name: str) -> Any:
    """The value at a path like ``layers.0.w`` or ``layers[0].w``, else ``MISSING``."""
    rest = name.replace("[", ".").replace("]", "")
    inside: Mapping[str, Any] | Sequence[Any] | None = outermost(variables)
    while True:
        head, _, tail = rest.partition(".")
        if isinstance(inside, Mapping) and rest in inside:  # a key may hold dots itself
            return inside[rest]
        if isinstance(inside, Mapping) and head in inside:
            found = inside[head]
        elif is_list(inside) and head.isdecimal() and int(head) < len(inside):
            found = inside[int(head)]
        else:
            return MISSING
        if not tail:
            return found
        rest, inside = tail, members(found)


def is_wire_leaf(value: Any) -> bool:
    """Whether a mapping is one tensor, in the protocol's own notation."""
    return isinstance(value, Mapping) and (
        not LEAF_MEMBERS.isdisjoint(value) or {"re", "im"} <= value.keys()
    )


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list in the protocol's sense."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def is_dataclass(value: Any) -> bool:
    """Whether a value is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def flat(value: Sequence[Any]) -> Iterator[Any]:
    """The items of nested lists, in order."""
    for item in value:
        if is_list(item):
            yield from flat(item)
        else:
            yield item


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value in NONFINITE
    return isinstance(value, (numbers.Number, np.bool_))
