"""Answers some of whose arrays stay with the service: references in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_service.wire.arrays_in import Array
from gradwire_service.wire.fields import invalid

#: Smaller arrays take hardly more bytes than references to them.
LEAST_BYTES = 1 << 12
#: Members of sparse and ragged tensors, which come as they are.
_IN_PARTS = ({"indices", "values", "shape"}, {"values", "row_splits"})
#: Stores arrays; the document of each one's reference, or None where there is no room for it.
Keep: TypeAlias = Callable[[Sequence[Array]], Sequence[dict[str, Any] | None]]


class _Place(NamedTuple):
    """Stands for an array that is to stay: the number of its reference."""

    number: int


def with_references(document: dict[str, Any], paths: Sequence[str], keep: Keep) -> dict[str, Any]:
    """The document with references in place of arrays in the members at ``paths``.

    Each place has a reference of its own. Small arrays and those for which there is no room stay.

    Raises: ``RequestError`` (invalid_request) for a path that it does not have.
    """
    arrays: list[Array] = []

    def lift(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.nbytes < LEAST_BYTES:
            return value
        arrays.append(value)
        return _Place(len(arrays) - 1)

    for position, path in enumerate(paths):
        _check_path(document, path, f"/keep/{position}")
    for path in paths:
        document = _changed(document, path.split("."), lift)
    references = keep(arrays)

    def settle(value: Any) -> Any:
        if not isinstance(value, _Place):
            return value
        return references[value.number] or arrays[value.number]

    for path in paths:
        document = _changed(document, path.split("."), settle)
    return document


def _check_path(document: Any, path: str, pointer: str) -> None:
    member = document
    for part in path.split("."):
        try:
            member = member[int(part) if isinstance(member, list) else part]
        except (LookupError, TypeError, ValueError):
            raise invalid(f"the answer has no member {path}", pointer) from None


def _changed(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """A value with all that its member at a path contains changed."""
    if not path:
        return _mapped(value, change)
    head, *rest = path
    if isinstance(value, list):
        at = int(head)
        return [*value[:at], _changed(value[at], rest, change), *value[at + 1 :]]
    return {**value, head: _changed(value[head], rest, change)}


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (_Place, np.ndarray)):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_mapped(item, change) for item in value]
    if isinstance(value, Mapping):
        if value.keys() in _IN_PARTS:
            return value
        return {name: _mapped(item, change) for name, item in value.items()}
    return value
