"""Answers for terminals: bounded tables of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from gradwire.display import messages
from gradwire.display.figures import digits, summary
from gradwire.display.matrices import Matrix, matrix
from gradwire.display.request_view import RequestView
from gradwire.display.rows import Row, rows
from gradwire.display.sections import Section, sections
from gradwire.locations import Node
from gradwire.results import Check, Instruction, Recording, Result
from gradwire.trees import MISSING
from gradwire.values import type_of

#: Rows of each table; more are counted.
MOST_ROWS = 20
#: Largest side of a matrix whose numbers are shown.
MOST_NUMBERS = 8
#: Most warnings that are shown; more are counted.
MOST_WARNINGS = 6


def text(shown: Result | Recording) -> str:
    """An answer as text of at most some 60 lines."""
    lines = _recording(shown) if isinstance(shown, Recording) else _result(shown)
    return "\n".join(line.rstrip() for line in lines)


def table(cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns that are aligned, empty ones left out; the first row is the head."""
    kept = [i for i in range(len(cells[0])) if any(row[i] for row in cells[1:])]
    widths = [max(len(row[i]) for row in cells) for i in kept]
    padded = ([row[i].ljust(w) for i, w in zip(kept, widths, strict=True)] for row in cells)
    return [f"  {'  '.join(row)}" for row in padded]


def _result(result: Result) -> Iterator[str]:
    asked = RequestView.of(result.raw)
    yield messages.title(result)
    for section in sections(result, asked):
        if section.title:
            yield f"  {section.title}"
        yield from table(_cells(section, result, asked))
    made = matrix(result, asked)
    if made is not None:
        yield from _matrix(made)
    for way, place in result.nonfinite.items():
        yield from _warning(messages.nonfinite_sentence(way, place), place, asked)
    for notice in result.warnings[:MOST_WARNINGS]:
        yield from _warning(messages.notice_sentence(notice), notice.node, asked)
    if len(result.warnings) > MOST_WARNINGS:
        yield f"! … and {len(result.warnings) - MOST_WARNINGS} more"
    told = [messages.timings_sentence(result)]
    told += [f"program {result.program[:15]}…"] if result.program else []
    told += [f"request {result.request_id}"] if result.request_id else []
    yield f"  {' · '.join(filter(None, told))}"


def _matrix(made: Matrix) -> Iterator[str]:
    """A matrix's nature, and its numbers if they are few."""
    yield f"  {made.name} {made.describe()}"
    if max(made.shape) <= MOST_NUMBERS:
        names = [name for band in made.columns for name in band.elements()]
        rows_ = [name for band in made.rows for name in band.elements()]
        numbers = ([digits(number) for number in row] for row in made.whole())
        yield from table(
            [["", *names], *([n, *row] for n, row in zip(rows_, numbers, strict=True))]
        )


def _warning(sentence: str, place: Node | None, asked: RequestView) -> Iterator[str]:
    yield f"! {sentence}"
    if place is not None:
        yield from place.excerpt(asked.source)


def _cells(section: Section, result: Result, asked: RequestView) -> list[list[str]]:
    head = [section.of, "type", "at", *section.columns]
    head += [f"norm of {name}" if len(section.normed) > 1 else "norm" for name in section.normed]
    lines = [[*head, "check"]]
    leaves = (row for row in rows(section.columns, section.names) if row.leaves is not None)
    lines += [_line(section, row, result, asked) for row in islice(leaves, MOST_ROWS)]
    more = sum(1 for _ in leaves)
    if more:
        lines.append([f"… and {more:,} more", *[""] * len(head)])
    return lines


def _line(section: Section, row: Row, result: Result, asked: RequestView) -> list[str]:
    leaves = row.leaves or {}
    first = next(iter(leaves.values()))
    value = asked.variable(row.path) if section.of_sources else MISSING
    typed = value if first is None else first
    line = [
        messages.cut(row.path or row.label),
        "" if typed is MISSING or typed is None else type_of(typed),
        messages.brief(value),
    ]
    for leaf in leaves.values():
        why = messages.why_none(result, row.path) if leaf is None else ""
        line.append(f"none: {why}" if why else messages.brief(leaf))
    for name in section.normed:
        told = None if leaves[name] is None else summary(leaves[name])
        line.append(digits(told.norm) if told and told.size > 1 and not told.nonfinite else "")
    return [*line, _verdict(section, row, result)]


def _verdict(section: Section, row: Row, result: Result) -> str:
    if section.of_sources and isinstance(result, Check):
        return messages.verdict(result, row.path)
    return ""


def _recording(recording: Recording) -> Iterator[str]:
    kind = "persistent tape" if recording.persistent else "tape for one question"
    yield (
        f"Recording of a {kind}: {recording.length:,} instructions, "
        f"{recording.memory_bytes:,} bytes, until {recording.expires_at:%Y-%m-%d %H:%M:%S %Z}"
    )
    yield f"  watched: {messages.cut(', '.join(recording.watched), 90)}"
    told = recording.instructions[:MOST_ROWS]
    lines = [["slot", "instruction", "of", "type", "line"], *map(_instruction, told)]
    if recording.length > len(told):
        lines.append(["", f"… and {recording.length - len(told):,} more", "", "", ""])
    yield from table(lines)


def _instruction(each: Instruction) -> list[str]:
    line = "" if each.node is None or each.node.line is None else f"{each.node.line}"
    args = messages.cut(", ".join(map(str, each.args)))
    return [f"{each.slot}", each.op, args, each.type, line]
