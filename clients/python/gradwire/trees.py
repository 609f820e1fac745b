"""Nested values: their levels, their leaves, and lookup by path.

Levels are mappings, lists, tuples, named tuples and dataclasses. ``flatten`` takes nested values
apart into their leaves and a structure, which can be compared and hashed; the caller says what a
leaf is.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeGuard, cast

import numpy as np

from gradwire.errors import GradwireError, UsageError


class DataclassInstance(Protocol):
    """Any instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


#: Values nested in mappings, sequences, named tuples and dataclasses; the outermost goes by name.
Variables: TypeAlias = "Mapping[str, Any] | DataclassInstance"
#: Names nested in lists and mappings; ``None`` leaves stay ``None``.
Names: TypeAlias = "str | Sequence[Names] | Mapping[str, Names] | None"

#: The result of ``lookup`` for a name without a value.
MISSING: Final = object()

NONFINITE = frozenset({"NaN", "Infinity", "-Infinity"})
LEAF_MEMBERS = frozenset({"value", "base64", "data", "ref", "indices", "row_splits"})


_ENDLESS: Final = "a list or a dictionary may not contain itself"
_LEVELS: Final = "nest them in dictionaries, lists, tuples or dataclasses of Python"


class Static:
    """A value that is part of a structure; one that cannot be hashed equals itself alone."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value: Any = value
        try:
            hash(value)
        except Exception:  # noqa: BLE001 - of any class, which may refuse as it likes
            self._key: Any = type(value), id(value)
        else:
            self._key = type(value), value  # True is not 1 here

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(frozen=True, slots=True)
class Level:
    """A nesting level: its type, and its parts by key."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[Structure, ...]
    #: The ``default_factory`` of a ``defaultdict``.
    factory: Any = None


@dataclass(frozen=True, slots=True)
class LeafPlace:
    """A leaf's place."""


Structure: TypeAlias = "Level | Static | LeafPlace"
LEAF: Final = LeafPlace()


def flatten(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Structure]:
    """The leaves of nested values, in order, and the structure that holds them.

    What is neither a leaf nor a level is part of the structure.

    Raises: ``UsageError`` for levels without end, and for those that cannot be read.
    """
    leaves: list[Any] = []

    def structure(value: Any) -> Structure:
        if is_leaf(value):
            leaves.append(value)
            return LEAF
        found = children(value)
        if found is None:
            return Static(value)
        keys, parts = found
        inner = tuple([structure(part) for part in parts])
        return Level(type(value), tuple(keys), inner, default_factory(value))

    try:
        return leaves, structure(value)
    except GradwireError:
        raise
    except RecursionError as error:
        raise UsageError("values are nested too deeply", hint=_ENDLESS) from error
    except Exception as error:
        raise UsageError(f"nested values cannot be read: {error}", hint=_LEVELS) from error


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Values nested by a structure, with these leaves."""
    if isinstance(structure, LeafPlace):
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    parts = [unflatten(part, leaves) for part in structure.parts]
    return nested(structure.kind, structure.keys, parts, structure.factory)


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


def children(value: Any) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """The keys and the parts of a nesting level; ``None`` for any other value."""
    if isinstance(value, Mapping):
        return list(value), list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return value._fields, value
    if isinstance(value, (list, tuple)):
        return range(len(value)), value
    if is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return names, [getattr(value, name) for name in names]
    return None


def default_factory(value: Any) -> Any:
    """The part of a level, besides its type and its parts, that is needed to make it again."""
    return value.default_factory if isinstance(value, defaultdict) else None


def nested(kind: Any, keys: Sequence[Any], parts: Sequence[Any], factory: Any = None) -> Any:
    """A nesting level of this type: the inverse of ``children``."""
    if issubclass(kind, Mapping):
        pairs = dict(zip(keys, parts, strict=True))
        if kind is dict:
            return pairs
        try:
            return kind(factory, pairs) if issubclass(kind, defaultdict) else kind(pairs)
        except Exception as error:
            problem = f"a {kind.__name__} cannot be made of its parts: {error}"
            raise UsageError(problem, hint=_LEVELS) from error
    if dataclasses.is_dataclass(kind):
        # As copy does: no __init__ may check or change what was given.
        made: Any = object.__new__(cast("type", kind))
        for name, part in zip(keys, parts, strict=True):
            object.__setattr__(made, name, part)
        return made
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*parts)
    return kind(parts)


def outermost(variables: Any, field: str = "variables") -> Mapping[str, Any]:
    """The variables by name: a nesting level, even if the names look like a tensor's."""
    named = inside(variables)
    if not isinstance(named, Mapping):
        kind = type(variables).__name__
        raise UsageError(f"{field} go by name, in a mapping or a dataclass, not in a {kind}")
    return named


def members(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    """The children of a nesting level, by name or by position; ``None`` for a leaf.

    A list of numbers, however deep, is a leaf, namely an array. A list with an array in it is a
    nesting level: ``[w, b]`` is two variables.
    """
    held = inside(value)
    numbers_only = is_list(held) and all(_is_number(item) for item in flat(held))
    return None if numbers_only or is_wire_leaf(value) else held


def inside(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    """The children of a value, by name or by position, even of a leaf."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not hasattr(value, "__array__"):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: getattr(value, name) for name in fields}
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return dict(zip(names, value, strict=True))
    return value if is_list(value) else None


def child(held: Any, key: Any) -> Any:
    """The child of that name, else ``MISSING``."""
    try:
        return held[key]
    except (LookupError, TypeError):
        return MISSING


def rebuild(like: Any, parts: Mapping[str, Any] | Sequence[Any]) -> Any:
    """A nesting level of the type of another, with these parts."""
    if not isinstance(parts, Mapping):
        return tuple(parts) if isinstance(like, tuple) else list(parts)
    if is_dataclass(like):
        made = object.__new__(type(like))  # no __init__ may check or change what was given
        names = [field.name for field in dataclasses.fields(like)]
        for name in names:
            object.__setattr__(made, name, parts[name] if name in parts else getattr(like, name))
        return made
    return cast("Any", like)._replace(**parts) if isinstance(like, tuple) else dict(parts)


def lookup(variables: Any, name: str) -> Any:
    """The value at a path like ``layers.0.w`` or ``layers[0].w``, else ``MISSING``."""
    rest = name.replace("[", ".").replace("]", "")
    level: Mapping[str, Any] | Sequence[Any] | None = outermost(variables)
    while True:
        head, _, tail = rest.partition(".")
        if isinstance(level, Mapping) and rest in level:  # a key may hold dots itself
            return level[rest]
        if isinstance(level, Mapping) and head in level:
            found = level[head]
        elif is_list(level) and head.isdecimal() and int(head) < len(level):
            found = level[int(head)]
        else:
            return MISSING
        if not tail:
            return found
        rest, level = tail, members(found)


def check_level(names: Any) -> None:
    """Refuse names in anything but lists and mappings."""
    if not isinstance(names, Mapping) and not is_list(names):
        got = type(names).__name__
        raise UsageError(f"names need strings, nested in lists and mappings, got {got}")


def template(names: Names, variables: Variables | None) -> Any:
    """The variables that names mean, nested as the names are; all of them without names."""
    if names is None:
        return variables
    if isinstance(names, str):
        return lookup(variables or {}, names)
    check_level(names)
    if isinstance(names, Mapping):
        return {key: template(name, variables) for key, name in names.items()}
    return rebuild(names, [template(name, variables) for name in names])


def is_wire_leaf(value: Any) -> bool:
    """True if a mapping is one tensor, in the protocol's notation."""
    return isinstance(value, Mapping) and (
        not LEAF_MEMBERS.isdisjoint(value) or {"re", "im"} <= value.keys()
    )


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """True if a value is a list in the protocol's sense."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def is_dataclass(value: Any) -> bool:
    """True if a value is an instance of a dataclass."""
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
