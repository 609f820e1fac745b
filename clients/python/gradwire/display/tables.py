"""Sections of answers as tables of HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from gradwire.display import messages
from gradwire.display.figures import digits, summary
from gradwire.display.leaves import leaf_cell, summary_cell
from gradwire.display.markup import Markup, element, indented, joined
from gradwire.display.request_view import RequestView
from gradwire.display.rows import Row, rows
from gradwire.display.sections import Section
from gradwire.results import Check, Result
from gradwire.trees import MISSING
from gradwire.values import type_of

#: Rows of a table; more are counted. Of the first of them, large leaves open.
MOST_ROWS = 40
MOST_OPENING = 12
#: Pixels of the longest bar of norms.
LONGEST_BAR = 56

#: A column's cell in the row of a leaf, which may open or not.
Cell: TypeAlias = Callable[[Row, bool], Markup]

NOTHING = Markup("")


def section_table(
    section: Section, result: Result, asked: RequestView, drawn: Sequence[str] = ()
) -> Markup:
    """A table with a row for each leaf and each nesting level.

    Empty columns are left out; columns that are ``drawn`` elsewhere have summary statistics.
    """
    found = rows(section.columns, section.names)
    shown = list(islice(found, MOST_ROWS))
    columns = []
    for head, cell in _columns(section, result, asked, shown, drawn):
        parts = [
            cell(row, i < MOST_OPENING) if row.leaves else NOTHING for i, row in enumerate(shown)
        ]
        if any(parts) or head == section.of:
            columns.append((head, parts))
    lines = []
    for i, row in enumerate(shown):
        kinds = ["gw-top"] if row.depth == 0 else []
        kinds += [] if row.leaves else ["gw-level"]
        parts = [_name(row), *(cells[i] for _, cells in columns[1:])]
        lines.append(
            element("tr", *(element("td", part) for part in parts), class_=" ".join(kinds))
        )
    more = sum(1 for row in found if row.leaves)
    if more:
        rest = element("td", f"… and {more:,} more", class_="gw-quiet", colspan=len(columns))
        lines.append(element("tr", rest, class_="gw-top"))
    head = element("tr", *(element("th", name) for name, _ in columns))
    return element("table", element("thead", head), element("tbody", *lines))


def _columns(
    section: Section, result: Result, asked: RequestView, shown: Sequence[Row], drawn: Sequence[str]
) -> Iterator[tuple[str, Cell]]:
    point = asked if section.of_sources else None
    yield section.of, lambda row, _: _name(row)
    yield "type", lambda row, _: _type(row, point)
    if point:
        yield "at", lambda row, opens: leaf_cell(point.variable(row.path), opens)
    for name in section.columns:
        yield name, _summaries(name) if name in drawn else _values(name, result)
        if name in section.normed:
            yield "norm", _norms(name, shown)
    if section.of_sources and isinstance(result, Check):
        yield "check", lambda row, _: _verdict(result, row.path)


def _summaries(name: str) -> Cell:
    return lambda row, _: summary_cell((row.leaves or {})[name])


def _values(name: str, result: Result) -> Cell:
    def cell(row: Row, opens: bool) -> Markup:
        leaf = (row.leaves or {})[name]
        why = messages.why_none(result, row.path) if leaf is None else ""
        return element("span", f"none: {why}", class_="gw-quiet") if why else leaf_cell(leaf, opens)

    return cell


def _name(row: Row) -> Markup:
    label = messages.cut(row.label or "value")
    renamed = row.path if row.label and not row.path.endswith(row.label) else ""
    paths = [element("span", f" {messages.cut(renamed)}", class_="gw-type")] if renamed else []
    name = element("span", label, class_="gw-name", title=row.path or None)
    return element("span", indented(row.depth), name, *paths)


def _type(row: Row, point: RequestView | None) -> Markup:
    first = next(iter((row.leaves or {}).values()))
    typed = point.variable(row.path) if point and first is None else first
    text = "" if typed is MISSING or typed is None else type_of(typed)
    return element("span", text, class_="gw-type") if text else NOTHING


def _norms(name: str, shown: Sequence[Row]) -> Cell:
    """Norms with bars, on a logarithmic scale from the least non-zero one to the greatest."""
    norms = [_norm((row.leaves or {}).get(name)) for row in shown]
    logs = [math.log10(norm) for norm in norms if norm]
    least, most = (min(logs), max(logs)) if logs else (0.0, 0.0)
    span = max(most - least, 1.0)  # norms that are nearly the same have bars that are

    def cell(row: Row, _: bool) -> Markup:
        norm = _norm((row.leaves or {})[name])
        if norm is None:
            return NOTHING
        number = element("span", digits(norm, 3), class_="gw-no", title=repr(norm))
        if len(logs) < 2:
            return number
        share = 1.0 - (most - math.log10(norm)) / span if norm else 0.0
        width = 4 + round((LONGEST_BAR - 4) * share) if norm else 0
        style = f"width:{width}px;margin-right:{LONGEST_BAR + 7 - width}px"
        return joined(element("span", class_="gw-bar", style=style), number)

    return cell


def _norm(leaf: Any) -> float | None:
    stats = None if leaf is None or leaf is MISSING else summary(leaf)
    return stats.norm if stats and stats.size and not stats.nonfinite else None


def _verdict(result: Check, path: str) -> Markup:
    sentence = messages.verdict(result, path)
    if not sentence:
        return NOTHING
    right = result.checks[path].ok
    mark = element("span", "✓ " if right else "✗ ", class_="gw-good" if right else "gw-bad")
    return joined(mark, element("span", sentence, class_="gw-no"))
