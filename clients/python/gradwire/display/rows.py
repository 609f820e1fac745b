"""Nested answers as rows: each leaf with its path, as the service names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING, child, inside


def rows(
    columns: Mapping[str, Any], names: Any = MISSING, path: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The leaves of values that are nested alike: their path, and the leaf of each column.

    The first column says what is a level; another one may lack leaves. ``names`` are the request's
    names of them. The path of a single leaf without a name is empty.
    """
    if isinstance(names, str):
        path, names = names, MISSING
    held = level(next(iter(columns.values())))
    if held is None:
        yield path, columns
        return
    for key in held if isinstance(held, Mapping) else range(len(held)):
        parts = {column: child(level(value), key) for column, value in columns.items()}
        yield from rows(parts, child(names, key), f"{path}.{key}" if path else f"{key}")


def level(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    """The children of a nesting level of an answer; ``None`` for a leaf."""
    return None if isinstance(value, (SparseArray, RaggedArray)) else inside(value)
