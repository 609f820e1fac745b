"""Nested values: lists, tuples, named tuples and dictionaries of tensors.

A dictionary's values come in the order of its sorted keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradwire.tf.tensors import Operand


def is_nested(structure: Any) -> bool:
    """Whether it is a list, tuple or dictionary."""
    if isinstance(structure, Operand):
        return False
    return isinstance(structure, (list, tuple, Mapping)) or _is_attrs(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The values in a nested structure, which itself is the only one where it is not nested."""
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
    check = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check)
    parts = zip(*(flatten(each, expand) for each in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*part) for part in parts], expand)


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
        if isinstance(structure, Mapping):
            pairs = [(key, made[key]) for key in structure]
            kind: Callable[..., Any] = type(structure)
            if hasattr(structure, "default_factory"):
                return kind(structure.default_factory, pairs)
            return kind(pairs)
        if _is_attrs(structure):
            return type(structure)(**made)
        if hasattr(structure, "_fields"):
            return type(structure)(*made.values())
        return type(structure)(made.values())
    if expand and hasattr(structure, "_components"):
        return structure._with_components([next(values) for _ in structure._components()])
    return next(values)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ``ValueError`` or ``TypeError`` unless both are nested alike."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(nest1).__name__} str={nest1}\n\n"
            f"Second structure: type={type(nest2).__name__} str={nest2}"
        )
    if not is_nested(nest1):
        return
    if (
        check_types
        and type(nest1) is not type(nest2)
        and not (isinstance(nest1, Mapping) and isinstance(nest2, Mapping))
    ):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(nest1)}, while shallow structure has type {type(nest2)}."
        )
    first, second = _items(nest1), _items(nest2)
    if isinstance(nest1, Mapping) and {key for key, _ in first} != {key for key, _ in second}:
        raise ValueError("The two dictionaries don't have the same set of keys.")
    if len(first) != len(second):
        raise ValueError(
            "The two structures don't have the same number of elements.\n\n"
            f"First structure: {nest1}\n\nSecond structure: {nest2}"
        )
    for (_, one), (_, other) in zip(first, second, strict=True):
        assert_same_structure(one, other, check_types, expand_composites)


def _items(structure: Any) -> list[tuple[Any, Any]]:
    if isinstance(structure, Mapping):
        try:
            keys = sorted(structure)
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys") from None
        return [(key, structure[key]) for key in keys]
    if _is_attrs(structure):
        return [(field.name, getattr(structure, field.name)) for field in structure.__attrs_attrs__]
    return list(enumerate(structure))


def _is_attrs(structure: Any) -> bool:
    return not isinstance(structure, type) and hasattr(structure, "__attrs_attrs__")
