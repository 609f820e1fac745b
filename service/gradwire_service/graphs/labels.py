"""The text of each box, and the room it takes in any fixed-width font."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import category, east_asian_width

from gradwire_engine.dataflow import Vertex

#: Font sizes in pixels: of an operation's first line, and of all others.
LARGE, SMALL = 13.0, 11.0
#: Width of a character in font sizes; the usual fixed-width fonts have less.
_CHARACTER_WIDTH = 0.64
_LONGEST = 30
_PADDING = 10.0
LINE_HEIGHT = 15.0
#: Kinds that are shown in small letters.
_QUIET = frozenset({"constant", "input", "result"})


class TextLine(NamedTuple):
    """A line of text, the class of its style and its font size."""

    text: str
    style: str
    size: float


class Label(NamedTuple):
    """Lines of text, and the size of the box around them."""

    lines: tuple[TextLine, ...]
    width: float
    height: float


def label_of(vertex: Vertex) -> Label:
    """The label of a vertex."""
    quiet = vertex.kind in _QUIET
    lines = [TextLine(mark, "mark", SMALL) for mark in vertex.marks]
    head = "function" if vertex.kind == "function" else vertex.label
    style, size = ("quiet", SMALL) if quiet else ("head", LARGE)
    lines.append(TextLine(clipped(head), style, size))
    name = None if quiet and vertex.kind != "constant" else vertex.name
    parts = [clipped(name)] if name else []
    if vertex.type is not None and vertex.kind != "constant":
        parts.append(str(vertex.type))
    if parts:
        lines.append(TextLine(" · ".join(parts), "small", SMALL))
    if vertex.parameters:
        parameters = ", ".join(f"{key}={text}" for key, text in vertex.parameters.items())
        lines.append(TextLine(clipped(parameters), "small", SMALL))
    return _label(lines)


def reference_to(vertex: Vertex) -> Label:
    """The label that stands for a vertex where a line from it would be too long."""
    return _label([TextLine(f"↑ {clipped(vertex.name or vertex.label)}", "quiet", SMALL)])


def _label(lines: list[TextLine]) -> Label:
    width = max(text_width(line.text, line.size) for line in lines) + 2 * _PADDING
    return Label(tuple(lines), max(width, 34.0), len(lines) * LINE_HEIGHT + 9.0)


def text_width(text: str, size: float) -> float:
    """An upper bound of the width of a text."""
    columns = sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
    return columns * size * _CHARACTER_WIDTH


def clipped(text: str) -> str:
    """A text cut to one line of printable characters."""
    text = text[: _LONGEST + 1]
    shown = "".join("\N{REPLACEMENT CHARACTER}" if category(c)[0] == "C" else c for c in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
