"""Answers some of whose arrays stay with the service: references in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gradwire_service.wire.fields import invalid
from gradwire_service.wire.numbers import Array

#: Smaller arrays take hardly more bytes than references to them.
LEAST_BYTES = 1 << 12
#: Members of sparse and ragged tensors, which come as they are.
_IN_PARTS = ({"indices", "values", "shape"}, {"values", "row_splits"})
#: Stores arrays; the document of each one's reference, or None where there is no room for it.
Keep: TypeAlias = Callable[[Sequence[Array]], Sequence[dict[str, Any] | None]]


def with_references(document: dict[str, Any], paths: Sequence[str], keep: Keep) -> dict[str, Any]:
    """The document with references in place of arrays in the members at ``paths``.

    Small arrays and those for which there is no room stay in it.

    Raises: ``RequestError`` (invalid_request) for a path that it does not have.
    """
    found: dict[int, Array] = {}
    for position, path in enumerate(paths):
        _collect(_member(document, path, f"/keep/{position}"), found)
    references = dict(zip(found, keep(list(found.values())), strict=True))
    for path in paths:
        document = _replaced(document, path.split("."), references)
    return document


def _member(document: Any, path: str, pointer: str) -> Any:
    member = document
    for part in path.split("."):
        try:
            member = member[int(part) if isinstance(member, list) else part]
        except (LookupError, TypeError, ValueError):
            raise invalid(f"the answer has no member {path}", pointer) from None
    return member


def _collect(value: Any, found: dict[int, Array]) -> None:
    if isinstance(value, np.ndarray):
        if value.nbytes >= LEAST_BYTES:
            found[id(value)] = value
    elif isinstance(value, Mapping):
        if value.keys() in _IN_PARTS:
            return
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, found)


def _replaced(value: Any, path: Sequence[str], references: Mapping[int, Any]) -> Any:
    """A value with references in place of the arrays in its member at a path."""
    if not path:
        return _referring(value, references)
    head, *rest = path
    if isinstance(value, list):
        at = int(head)
        return [*value[:at], _replaced(value[at], rest, references), *value[at + 1 :]]
    return {**value, head: _replaced(value[head], rest, references)}


def _referring(value: Any, references: Mapping[int, Any]) -> Any:
    if isinstance(value, np.ndarray):
        return references.get(id(value)) or value
    if isinstance(value, Mapping):
        return {name: _referring(item, references) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_referring(item, references) for item in value]
    return value
