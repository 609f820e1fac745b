"""What stands in each box, and how much room it takes, measured for any fixed-width font."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import category, east_asian_width

from gradwire_engine.dataflow import Vertex

#: Font sizes, in pixels, of a box's first line and of all others.
LARGE, SMALL = 13.0, 11.0
#: Breadth of a character in parts of the font's size: no usual fixed-width font has more.
_BREADTH = 0.64
_LONGEST = 30
_PADDING = 10.0
LINE = 15.0
#: Kinds with little to say, so in small letters.
_QUIET = frozenset({"constant", "input", "result"})


class Line(NamedTuple):
    """A line of text: in a class of the drawing's style, in a font of some size."""

    text: str
    style: str
    size: float


class Label(NamedTuple):
    """Lines of text, and breadth and height of the box that they need."""

    lines: tuple[Line, ...]
    width: float
    height: float


def label_of(vertex: Vertex) -> Label:
    """What stands in a vertex's box."""
    quiet = vertex.kind in _QUIET
    lines = [Line(mark, "mark", SMALL) for mark in vertex.marks]
    head = "function" if vertex.kind == "function" else vertex.label
    lines.append(Line(clipped(head), "quiet" if quiet else "head", SMALL if quiet else LARGE))
    name = None if quiet and vertex.kind != "constant" else vertex.name
    parts = [clipped(name)] if name else []
    if vertex.type is not None and vertex.kind != "constant":
        parts.append(str(vertex.type))
    if parts:
        lines.append(Line(" · ".join(parts), "small", SMALL))
    if vertex.parameters:
        told = ", ".join(f"{key}={text}" for key, text in vertex.parameters.items())
        lines.append(Line(clipped(told), "small", SMALL))
    return _label(lines)


def reference_to(vertex: Vertex) -> Label:
    """What stands where a line would be too long: the name of what it comes from."""
    return _label([Line(f"↑ {clipped(vertex.name or vertex.label)}", "quiet", SMALL)])


def _label(lines: list[Line]) -> Label:
    width = max(breadth(line.text, line.size) for line in lines) + 2 * _PADDING
    return Label(tuple(lines), max(width, 34.0), len(lines) * LINE + 9.0)


def breadth(text: str, size: float) -> float:
    """At most how broad a text is."""
    columns = sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
    return columns * size * _BREADTH


def clipped(text: str) -> str:
    """A text of one line, what cannot be written or is too long left out."""
    text = text[: _LONGEST + 1]
    shown = "".join("\N{REPLACEMENT CHARACTER}" if category(c)[0] == "C" else c for c in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
