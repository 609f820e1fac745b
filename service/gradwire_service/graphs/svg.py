"""A graph as SVG: for light and dark themes, without scripts and external resources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from gradwire_engine.dataflow import Graph, Group, Vertex
from gradwire_engine.errors import Place

from gradwire_service.graphs.labels import LINE_HEIGHT, SMALL, clipped, text_width
from gradwire_service.graphs.layers import Route
from gradwire_service.graphs.layout import TITLE_HEIGHT, Frame, Layout, Placed, lay_out
from gradwire_service.problems import clip

_MARGIN = 12.0
_LEGEND = 34.0
#: The legend: classes of boxes in its order.
_KINDS = {
    "source": "source",
    "target": "target",
    "variable": "variable",
    "constant": "constant",
    "operation": "operation",
    "merge": "one of two branches",
    "function": "function",
    "input": "into or out of a frame",
    "output": "output",
}
_LIGHT = {
    "ink": "#1c2430", "soft": "#5b6675", "line": "#8793a3", "back": "#ffffff", "frame": "#f4f6f9",
    "edge": "#b9c2ce", "operation": "#eaf1fb", "variable": "#fff5da", "constant": "#f3f3f3",
    "function": "#efe9fb", "output": "#e9f0ec", "source": "#ffd98a", "target": "#9fdcb4",
}  # fmt: skip
_DARK = {
    "ink": "#e6eaf0", "soft": "#a3aebc", "line": "#7d8998", "back": "#14181e", "frame": "#1b2129",
    "edge": "#3c4653", "operation": "#22354e", "variable": "#473a17", "constant": "#2a2f36",
    "function": "#3a2f57", "output": "#20382c", "source": "#8a6412", "target": "#1f7542",
}  # fmt: skip
#: Without CSS variables, which some viewers do not support.
_COLOURS = """
svg{background:%(back)s}text{fill:%(ink)s}.small,.quiet,.title,.key{fill:%(soft)s}
.box{fill:%(operation)s;stroke:%(edge)s}.frame{fill:%(frame)s;stroke:%(edge)s}
.variable .box{fill:%(variable)s}.constant .box{fill:%(constant)s}
.input .box,.reference .box{fill:%(back)s}.merge .box,.function .box{fill:%(function)s}
.output .box{fill:%(output)s}.source .small,.target .small{fill:%(ink)s}
.source .box{fill:%(source)s}.target .box{fill:%(target)s;stroke:%(ink)s}
.edge{stroke:%(line)s}.head-of-edge{fill:%(line)s}
"""
_SHAPES = """
svg{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
text{font-size:11px}.head{font-size:13px;font-weight:bold}.mark{font-weight:bold}
.frame{stroke-dasharray:5 3}.input .box,.reference .box{stroke-dasharray:2 2}
.output .box{stroke-width:2}.edge{fill:none;stroke-width:1.2}
"""
_DARK_RULES = "@media (prefers-color-scheme:dark){" + _COLOURS % _DARK + "}"
_STYLE = (_SHAPES + _COLOURS % _LIGHT + _DARK_RULES).replace("\n", "")


def svg(graph: Graph, title: str) -> str:
    """The picture of a graph; ``title`` is its text alternative."""
    layout = lay_out(graph)
    legend = [*_legend(graph)]
    width = max(layout.width, sum(width for _, _, width in legend)) + 2 * _MARGIN
    height = layout.height + _LEGEND + 2 * _MARGIN
    size = f"{_number(width)} {_number(height)}"
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img" '
        f'width="{_number(width)}" height="{_number(height)}">'
        f"<title>{_text(title)}</title><style>{escape(_STYLE)}</style>"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="head-of-edge" d="M0 0L8 4L0 8z"/></marker>'
        f'</defs><g transform="translate({_number(_MARGIN)} {_number(_MARGIN)})">'
    ]
    pieces += _drawn_legend(legend)
    pieces.append(f'</g><g transform="translate({_number(_MARGIN)} {_number(_LEGEND)})">')
    pieces += map(_frame, layout.frames)
    pieces += _lines(layout, graph)
    pieces += [_box(placed, _classes(placed.vertex)) for placed in layout.boxes]
    pieces += [_box(placed, "reference") for placed in layout.references]
    pieces.append("</g></svg>\n")
    return "".join(pieces)


def _frame(frame: Frame) -> str:
    group, x, y, width, height = frame
    return (
        f'<g><title>{_text(_described_group(group))}</title><rect class="frame" x="{_number(x)}" '
        f'y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" rx="10"/>'
        f'<text class="title" x="{_number(x + 12)}" y="{_number(y + TITLE_HEIGHT - 6)}">'
        f"{_text(group.label)}</text></g>"
    )


def _lines(layout: Layout, graph: Graph) -> Iterator[str]:
    for (tail, head, role), route in layout.lines:
        ends = [_named(graph.vertices[end]) for end in (tail, head)]
        operand = role if isinstance(role, str) else f"operand {role}"
        title = f"{ends[0]} → {ends[1]}, {operand}"
        yield (
            f'<path class="edge" marker-end="url(#head)" d="{_path(route)}">'
            f"<title>{_text(title)}</title></path>"
        )


def _path(route: Route) -> str:
    """Vertical pieces, joined by curves that begin and end vertically.

    Pieces of length 0 are left out: an arrow head after one would point to the right.
    """
    x, start, end = route[0]
    pieces = [f"M{_number(x)} {_number(start)}", _down(start, end)]
    for across, top, bottom in route[1:]:
        middle = _number((end + top) / 2)
        pieces.append(
            f"C{_number(x)} {middle} {_number(across)} {middle} {_number(across)} {_number(top)}"
        )
        pieces.append(_down(top, bottom))
        x, end = across, bottom
    return "".join(pieces)


def _down(top: float, bottom: float) -> str:
    drawn = _number(bottom)
    return "" if drawn == _number(top) else f"V{drawn}"


def _box(placed: Placed, classes: str) -> str:
    vertex, label, x, y = placed
    middle = _number(x + label.width / 2)
    rounded = 6 if classes.startswith(("operation", "merge")) else label.height / 2
    lines = "".join(
        f'<text class="{line.style}" x="{middle}" y="{_number(y + LINE_HEIGHT * (i + 1) + 0.5)}" '
        f'text-anchor="middle">{_text(line.text)}</text>'
        for i, line in enumerate(label.lines)
    )
    return (
        f'<g class="{classes}"><title>{_text(_described(vertex))}</title><rect class="box" '
        f'x="{_number(x)}" y="{_number(y)}" width="{_number(label.width)}" '
        f'height="{_number(label.height)}" rx="{_number(min(rounded, 14))}"/>{lines}</g>'
    )


def _classes(vertex: Vertex) -> str:
    kind = "input" if vertex.kind == "result" else vertex.kind
    return " ".join([kind, *vertex.marks])


def _legend(graph: Graph) -> Iterator[tuple[str, str, float]]:
    """The classes in use, their texts and the width of each in the legend."""
    used = {name for vertex in graph.vertices for name in _classes(vertex).split()}
    for name, words in _KINDS.items():
        if name in used:
            yield name, words, text_width(words, SMALL) + 34.0


def _drawn_legend(legend: Iterable[tuple[str, str, float]]) -> Iterator[str]:
    at = 0.0
    for name, words, width in legend:
        yield (
            f'<g class="{name}"><rect class="box" x="{_number(at)}" y="0" width="18" height="12" '
            f'rx="{3 if name in ("operation", "merge") else 6}"/>'
            f'<text class="key" x="{_number(at + 24)}" y="10">{words}</text></g>'
        )
        at += width


def _described_group(group: Group) -> str:
    return ", ".join(filter(None, [group.label, _where(group.place)]))


def _described(vertex: Vertex) -> str:
    """Name, marks, kind, type and place of a vertex."""
    typed = [] if vertex.type is None else [str(vertex.type)]
    parts = [_named(vertex), *vertex.marks, vertex.kind, *typed, _where(vertex.place)]
    return ", ".join(filter(None, parts))


def _named(vertex: Vertex) -> str:
    label = clipped(vertex.label)
    named = vertex.name not in (None, vertex.label)
    return f"{clipped(vertex.name or '')} = {label}" if named else label


def _where(place: Place | None) -> str:
    if place is None:
        return ""
    return f"line {place.line}" if place.line is not None else clip(place.pointer or "", 80)


def _text(text: str) -> str:
    """Text for XML: escaped, without the characters that XML forbids."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))


def _number(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
