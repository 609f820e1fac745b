"""Answers as cards of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator

from gradwire.display import messages
from gradwire.display.figures import digits
from gradwire.display.leaves import leaf_cell
from gradwire.display.markup import Markup, element, indented, joined, row
from gradwire.display.matrices import Matrix, matrix
from gradwire.display.matrix_table import is_drawn, matrix_table
from gradwire.display.request_view import RequestView
from gradwire.display.rows import level
from gradwire.display.sections import sections
from gradwire.display.style import STYLE
from gradwire.display.tables import section_table
from gradwire.locations import Node
from gradwire.ragged import RaggedArray
from gradwire.results import Check, Derivative, Instruction, Jvp, Recording, Result
from gradwire.sparse import SparseArray
from gradwire.tapes import Recorded
from gradwire.values import type_of

#: Most warnings, and most instructions, that are shown; more are counted.
MOST_WARNINGS = 8
MOST_INSTRUCTIONS = 60
#: Most characters of a program's text that are shown.
MOST_TEXT = 4000
#: Pixels of the bar that is divided among the phases.
TIMINGS_BAR = 72


def card(shown: Result | Recording) -> str:
    """An answer as HTML, of at most some hundred kilobytes."""
    parts = _recording(shown) if isinstance(shown, Recording) else _result(shown)
    return str(element("div", STYLE, *parts, class_="gw"))


def array_card(array: SparseArray | RaggedArray) -> str:
    """An array that is not one of NumPy's: its type, and its elements."""
    type_ = element("span", type_of(array), class_="gw-type")
    name = element("span", type(array).__name__, class_="gw-title")
    return str(
        element(
            "div",
            STYLE,
            row("div", name, type_, class_="gw-head"),
            leaf_cell(array),
            class_="gw",
        )
    )


def _result(result: Result) -> Iterator[Markup]:
    asked = RequestView.of(result.raw)
    yield _head(result)
    made = matrix(result, asked)
    made = made if made is not None and is_drawn(made) else None
    for i, section in enumerate(sections(result, asked)):
        if section.title:
            yield element("div", section.title, class_="gw-section")
        yield section_table(section, result, asked, (made.name,) if made else ())
        if i == 0 and made is not None:
            yield from _matrix(made)
    for way, place in result.nonfinite.items():
        yield _warning(messages.nonfinite_sentence(way, place), place, asked)
    for notice in result.warnings[:MOST_WARNINGS]:
        yield _warning(messages.notice_sentence(notice), notice.node, asked)
    if len(result.warnings) > MOST_WARNINGS:
        yield element(
            "div", f"… and {len(result.warnings) - MOST_WARNINGS} more", class_="gw-quiet"
        )
    if asked.source:
        yield _program(asked.source)
    yield _foot(result)


def _head(result: Result) -> Markup:
    parts = [element("span", type(result).__name__, class_="gw-title")]
    if isinstance(result, Derivative) and _is_told_ahead(result):
        value = leaf_cell(result.value, opens=False)
        parts += [element("span", "of", class_="gw-quiet"), value]
    if isinstance(result, Recorded):
        watched = messages.cut(", ".join(result.watched), 200)
        parts += [
            element("span", result.id, class_="gw-type"),
            element("span", f"watches {watched}" if watched else "watches nothing"),
        ]
    if isinstance(result, Check):
        told = "✓ all right" if result.ok else "✗ wrong"
        parts.append(element("span", told, class_="gw-good" if result.ok else "gw-bad"))
    return row("div", *parts, class_="gw-head")


def _is_told_ahead(result: Derivative) -> bool:
    """True if the value is one leaf and in no table."""
    return not isinstance(result, Jvp) and level(result.value) is None


def _matrix(made: Matrix) -> Iterator[Markup]:
    told = element("span", made.describe(), class_="gw-more")
    yield row("div", made.name, told, class_="gw-section")
    yield matrix_table(made)


def _warning(sentence: str, place: Node | None, asked: RequestView) -> Markup:
    lines = place.excerpt(asked.source) if place is not None else []
    excerpt = [element("pre", "\n".join(line[2:] for line in lines))] if lines else []
    return element("div", sentence, *excerpt, class_="gw-warn")


def _program(source: str) -> Markup:
    text = source if len(source) <= MOST_TEXT else f"{source[:MOST_TEXT]}\n…"
    lines = source.count("\n") + 1
    told = f"program of {lines:,} lines" if lines > 1 else "program"
    summary = element("summary", element("span", told, class_="gw-more"))
    return element("details", summary, element("div", element("pre", text)), style="margin-top:6px")


def _foot(result: Result) -> Markup:
    parts = []
    if result.timings:
        parts.append(element("span", *_timings(result)))
    if result.program:
        parts.append(element("span", f"program {result.program[:15]}…", title=result.program))
    if result.request_id:
        parts.append(element("span", f"request {result.request_id}"))
    return row("div", *parts, class_="gw-foot")


def _timings(result: Result) -> Iterator[Markup]:
    """The phases, a bar for each, and their milliseconds."""
    total = sum(result.timings.values())
    for i, (name, milliseconds) in enumerate(result.timings.items()):
        width = round(TIMINGS_BAR * milliseconds / total) if total > 0 else 0
        style = f"width:{max(width, 1)}px;opacity:{(0.75, 0.35, 0.9, 0.5)[i % 4]};margin-right:0"
        yield element("span", class_="gw-bar", style=style, title=f"{name} {milliseconds} ms")
    told = " · ".join(f"{name} {digits(ms, 3)}" for name, ms in result.timings.items())
    yield joined(f"  {told} ms")


def _recording(recording: Recording) -> Iterator[Markup]:
    kind = "persistent tape" if recording.persistent else "tape for one question"
    yield row(
        "div",
        element("span", "Recording", class_="gw-title"),
        element("span", f"of a {kind}", class_="gw-quiet"),
        element("span", f"{recording.length:,} instructions"),
        element("span", f"{recording.memory_bytes:,} bytes"),
        element("span", f"until {recording.expires_at:%Y-%m-%d %H:%M:%S %Z}", class_="gw-quiet"),
        class_="gw-head",
    )
    watched = messages.cut(", ".join(recording.watched), 300)
    yield element("div", "watched: ", element("span", watched, class_="gw-name"))
    told = recording.instructions[:MOST_INSTRUCTIONS]
    head = element("tr", *(element("th", name) for name in ("slot", "instruction", "type", "line")))
    lines = [line for each in told for line in _instruction(each, 0)]
    if recording.length > len(told):
        more = element("td", f"… and {recording.length - len(told):,} more", colspan=4)
        lines.append(element("tr", more, class_="gw-quiet"))
    yield element("table", element("thead", head), element("tbody", *lines))


def _instruction(each: Instruction, depth: int) -> Iterator[Markup]:
    line = "" if each.node is None or each.node.line is None else f"{each.node.line}"
    args = messages.cut(", ".join(f"{arg}" for arg in each.args))
    name = element("span", indented(depth) + each.op, class_="gw-name")
    of = element("span", f" {args}", class_="gw-type")
    told = [f"{each.slot}", joined(name, of), element("span", each.type, class_="gw-type"), line]
    yield element("tr", *(element("td", part, class_="gw-no") for part in told))
    if depth < 2:
        for inner in each.body[:MOST_INSTRUCTIONS]:
            yield from _instruction(inner, depth + 1)
