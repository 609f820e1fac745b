"""Nested answers as rows: each leaf with its path, as the service names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING, inside, is_list


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an answer: a nesting level, or a leaf with a value for each column."""

    #: The path, as ``layers.0.w``; empty if the answer is a single leaf without name.
    path: str
    #: The last part of the path, or the key in the answer.
    label: str
    depth: int
    #: Values by column; ``None`` for a nesting level.
    leaves: Mapping[str, Any] | None


def rows(columns: Mapping[str, Any], names: Any = MISSING) -> Iterator[Row]:
    """The rows of values that are nested alike; ``names`` are the request's names.

    The first column says what is a level; another one may have less.
    """
    return _rows(columns, names, "", "", 0)


def level(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    """The children of a nesting level of an answer; ``None`` for a leaf."""
    return None if isinstance(value, (SparseArray, RaggedArray)) else inside(value)


def _rows(
    columns: Mapping[str, Any], names: Any, path: str, label: str, depth: int
) -> Iterator[Row]:
    if isinstance(names, str):
        path, label = names, label if label and not label.isdecimal() else names
        names = MISSING
    held = level(next(iter(columns.values())))
    if held is None:
        yield Row(path, label, depth, columns)
        return
    if label:
        yield Row(path, label, depth, None)
        depth += 1
    for key in held if isinstance(held, Mapping) else range(len(held)):
        parts = {column: _part(value, key) for column, value in columns.items()}
        yield from _rows(
            parts, _name(names, key), f"{path}.{key}" if path else f"{key}", f"{key}", depth
        )


def _part(value: Any, key: Any) -> Any:
    try:
        return level(value)[key]  # type: ignore[index]
    except (LookupError, TypeError):
        return MISSING


def _name(names: Any, key: Any) -> Any:
    return names[key] if isinstance(names, Mapping) or is_list(names) else MISSING
