"""Values of names while a program's graph is drawn up, before they need a vertex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from gradwire_engine.dataflow.graph import Role, Vertex


class Constant(NamedTuple):
    """A literal in the program's text."""

    text: str


class Variable(NamedTuple):
    """A variable, or a member of a nested one."""

    path: str


class Element(NamedTuple):
    """A variable at an index: a member if members of it are read, else an operation."""

    of: Variable
    item: str
    at: int


class Items(NamedTuple):
    """A list, tuple, dict or slice that is an operand: each item by itself."""

    open: str
    items: tuple[Value, ...]
    close: str
    keys: tuple[str, ...] | None = None


Value: TypeAlias = "Vertex | Constant | Variable | Element | Items"


def described(value: Value) -> str:
    """The value as part of a label; what is computed is a dot."""
    if isinstance(value, Constant):
        return value.text
    if isinstance(value, Items):
        inner = [described(item) for item in value.items]
        if value.open == ":":
            start, stop, step = ["" if text == "None" else text for text in inner]
            return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
        if value.keys is not None:
            inner = [f"{key!r}: {text}" for key, text in zip(value.keys, inner, strict=True)]
        comma = "," if value.open == "(" and len(inner) == 1 else ""
        return f"{value.open}{', '.join(inner)}{comma}{value.close}"
    return "·"


def size(value: Value) -> int:
    """The number of values in a value."""
    return sum(map(size, value.items)) + 1 if isinstance(value, Items) else 1


def is_constant(value: Value) -> bool:
    """True if nothing in the value is computed."""
    if isinstance(value, Items):
        return all(map(is_constant, value.items))
    return isinstance(value, Constant)


def computed(value: Value, role: Role) -> Iterator[tuple[Value, Role]]:
    """The computed parts of the value, each with its part in the operation that reads it."""
    if isinstance(value, Items):
        for item in value.items:
            yield from computed(item, role)
    elif not isinstance(value, Constant):
        yield value, role
