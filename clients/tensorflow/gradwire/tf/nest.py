"""Nested values: lists, tuples, named tuples and dictionaries of tensors.

A dictionary's values come in the order of its sorted keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from gradwire.frontends import default_factory, nested
from gradwire.tf.tensors import Operand


def is_nested(seq: Any) -> bool:
    """True if it is a list, tuple or dictionary."""
    if isinstance(seq, (list, tuple, dict)):
        return True
    if isinstance(seq, Operand):
        return False
    return _is_level(seq.__class__)


@lru_cache(maxsize=1024)
def _is_level(kind: type) -> bool:
    """True for other mappings, and for classes by attrs."""
    return issubclass(kind, Mapping) or hasattr(kind, "__attrs_attrs__")


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The values in a nested structure, which itself is the only one where it is not nested."""
    if isinstance(structure, Operand):  # most are
        return [structure]
    found: list[Any] = []
    _gather(structure, found, expand_composites)
    return found


def _gather(structure: Any, found: list[Any], expand: bool) -> None:
    if is_nested(structure):
        for _, item in _items(structure):
            _gather(item, found, expand)
    elif expand and hasattr(structure, "_components"):
        found.extend(structure._components())
    else:
        found.append(structure)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """A structure like the first, of what a function gives for the values at each place."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    if len(structure) == 1 and isinstance(structure[0], Operand):
        return func(*structure)
    check = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check)
    parts = zip(*[flatten(each, expand) for each in structure], strict=True)
    return _rebuilt(structure[0], iter([func(*part) for part in parts]), expand)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like this one, of other values."""
    values = list(flat_sequence) if is_nested(flat_sequence) else [flat_sequence]
    count = len(flatten(structure, expand_composites))
    if len(values) != count:
        raise ValueError(
            "Could not pack sequence. Structure had "
            f"{count} atoms, but flat_sequence had {len(values)} items.  Structure: {structure}, "
            f"flat_sequence: {flat_sequence}."
        )
    return _rebuilt(structure, iter(values), expand_composites)


def _rebuilt(structure: Any, values: Iterator[Any], expand: bool) -> Any:
    if is_nested(structure):
        made = {key: _rebuilt(item, values, expand) for key, item in _items(structure)}
        if type(structure) in (list, tuple):
            return type(structure)(made.values())
        if _is_attrs(structure):
            return type(structure)(**made)
        keys = structure if isinstance(structure, Mapping) else made
        parts = [made[key] for key in keys]
        return nested(type(structure), list(keys), parts, default_factory(structure))
    if expand and hasattr(structure, "_components"):
        return structure._with_components([next(values) for _ in structure._components()])
    return next(values)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ``ValueError`` or ``TypeError`` unless both are nested alike."""
    found = _difference(nest1, nest2, check_types)
    if found is not None:
        kind, difference = found
        raise kind(
            f"the values are nested differently: {difference}\nfirst: {nest1!r}\nsecond: {nest2!r}"
        )


def _difference(one: Any, other: Any, check_types: bool) -> tuple[type[Exception], str] | None:
    """The first difference of two structures, and the class of the error for it."""
    if is_nested(one) != is_nested(other):
        first, second = (one, other) if is_nested(one) else (other, one)
        return ValueError, f"{first!r} is nested, but {second!r} is not"
    if not is_nested(one):
        return None
    alike = type(one) is type(other) or (isinstance(one, Mapping) and isinstance(other, Mapping))
    if check_types and not alike:
        return TypeError, (
            f"{one!r} is a {type(one).__name__}, but {other!r} is a {type(other).__name__}"
        )
    parts, others = _items(one), _items(other)
    if isinstance(one, Mapping):
        keys, other_keys = [key for key, _ in parts], [key for key, _ in others]
        if keys != other_keys:
            return ValueError, f"one has the keys {keys!r}, the other {other_keys!r}"
    if len(parts) != len(others):
        return ValueError, f"{one!r} and {other!r} have {len(parts)} and {len(others)} parts"
    pairs = zip(parts, others, strict=True)
    found = (_difference(part, its, check_types) for (_, part), (_, its) in pairs)
    return next((difference for difference in found if difference is not None), None)


def _items(structure: Any) -> list[tuple[Any, Any]]:
    if isinstance(structure, Mapping):
        try:
            keys = sorted(structure)
        except TypeError:
            raise TypeError(f"the keys of a dict cannot be sorted: {list(structure)}") from None
        return [(key, structure[key]) for key in keys]
    if _is_attrs(structure):
        return [(field.name, getattr(structure, field.name)) for field in structure.__attrs_attrs__]
    return list(enumerate(structure))


def _is_attrs(structure: Any) -> bool:
    return not isinstance(structure, type) and hasattr(structure, "__attrs_attrs__")
