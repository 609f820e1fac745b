"""Answers as reports: blocks that terminals and notebooks show in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from itertools import islice
from typing import Any

import numpy as np

from gradwire.display.blocks import Block, Listing, Problem, Remarks, Table, Title
from gradwire.display.figures import brief, cut, digits, norm, numbers
from gradwire.display.matrices import Matrix, element_names, matrix_of
from gradwire.display.request_view import RequestView
from gradwire.display.rows import level, rows
from gradwire.display.sections import Section, sections
from gradwire.explanations import (
    ArraySummary,
    ExplainedInstruction,
    ExplainedNode,
    Explanation,
)
from gradwire.results import (
    Check,
    Derivative,
    Instruction,
    Nonfinite,
    Recording,
    Result,
    SourceCheck,
    Unconnected,
)
from gradwire.tapes import Recorded
from gradwire.trees import MISSING
from gradwire.values import type_of

#: Rows of each table, and warnings; more are counted.
MOST_ROWS = 24
MOST_WARNINGS = 8
#: Largest side of a matrix whose numbers are shown, and most bands of one by its blocks.
MOST_NUMBERS = 10
MOST_BANDS = 6
#: Columns that have a column of their norms.
NORMED = ("gradient", "jacobian", "jvp", "hvp")


@singledispatch
def report(shown: Any) -> Iterator[Block]:
    """An answer or a recorded function as blocks; each type registers its own."""
    raise TypeError(f"{type(shown).__name__} is not an answer that can be shown")


@report.register
def _(result: Result) -> Iterator[Block]:
    request = RequestView.of(result.raw)
    yield Title(type(result).__name__, _about(result))
    for section in sections(result, request):
        yield _table(section, result, request)
    matrix = matrix_of(result, request)
    if matrix is not None:
        yield _matrix(matrix)
    for way, node in result.nonfinite.items():
        yield Problem(_nonfinite(way, node), node.excerpt(request.source))
    yield from _notices(result, request)
    yield Remarks(_about_request(result))


def _notices(result: Result, request: RequestView) -> Iterator[Block]:
    """The warnings of an answer, and its program."""
    for notice in result.warnings[:MOST_WARNINGS]:
        place = notice.node.excerpt(request.source) if notice.node else ()
        yield Problem(f"{notice.detail} ({notice.code})", place)
    if len(result.warnings) > MOST_WARNINGS:
        yield Problem(f"… and {len(result.warnings) - MOST_WARNINGS:,} more")
    if request.source:
        yield Listing("program", request.source)


def _about_request(result: Result) -> list[str]:
    phases = ", ".join(f"{name} {digits(ms, 3)}" for name, ms in result.timings.items())
    parts = [f"{phases} ms"] if phases else []
    parts += [f"program {result.program[:15]}…"] if result.program else []
    return [*parts, *([f"request {result.request_id}"] if result.request_id else [])]


def _about(result: Result) -> str:
    if isinstance(result, Recorded):
        return f"{result.id}, watches {cut(', '.join(result.watched) or 'nothing', 90)}"
    if not isinstance(result, Derivative):
        return ""
    value = "several values" if level(result.value) is not None else brief(result.value)
    if isinstance(result.value, np.ndarray):
        value = f"{type_of(result.value)} {value}"
    if isinstance(result, Check):
        found = ", ".join(dict.fromkeys(_verdict(c) for c in result.checks.values() if not c.ok))
        return f"of {value}: {found or 'all right'}"
    return f"of {value}"


def _table(section: Section, result: Result, request: RequestView) -> Table:
    normed = [name for name in section.columns if name in NORMED]
    norms = [f"norm of {name}" if len(normed) > 1 else "norm" for name in normed]
    head = [section.of, "type", "at", *section.columns, *norms, "check"]
    leaves = rows(section.columns, section.names)
    lines = [
        _line(path, leaves, result, request, section.of)
        for path, leaves in islice(leaves, MOST_ROWS)
    ]
    return Table(head, lines, section.title, more=sum(1 for _ in leaves))


def _line(
    path: str, leaves: Mapping[str, Any], result: Result, request: RequestView, of: str
) -> list[Any]:
    first = next(iter(leaves.values()))
    value = request.variable(path) if of == "source" else MISSING
    typed = value if first is None else first
    type_ = "" if typed is MISSING or typed is None else type_of(typed)
    unconnected = result.unconnected if isinstance(result, Derivative) else {}
    none = _none(unconnected[path]) if path in unconnected else "none"
    cells = [_cell(leaf, none) for leaf in leaves.values()]
    norms = [_norm(leaves[name]) for name in NORMED if name in leaves]
    check = result.checks.get(path) if of == "source" and isinstance(result, Check) else None
    verdict = ""
    if check is not None:
        at = f" at {list(check.at)}" if check.at else ""
        verdict = f"{_verdict(check)}, error {digits(check.error, 2)}{at}"
    return [cut(path), type_, _cell(value), *cells, *norms, verdict]


def _verdict(check: SourceCheck) -> str:
    return "right" if check.ok else "WRONG" if check.wrong else "undecided"


def _none(why: Unconnected) -> str:
    """The reason for a missing derivative, and the line where its path ends."""
    line = "" if why.node is None or why.node.line is None else f", line {why.node.line}"
    return f"none: {why.detail}{line}"


def _cell(leaf: Any, none: str = "none") -> Any:
    """A leaf of numbers as it is, any other one in words."""
    if leaf is MISSING:
        return ""
    if leaf is None:
        return none
    return brief(leaf) if numbers(leaf) is None else leaf


def _norm(leaf: Any) -> str:
    """The norm of a leaf of several numbers; empty where one is not finite."""
    values = None if leaf is None or leaf is MISSING else numbers(leaf)
    if values is None or values.ndim == 0 or not np.isfinite(values).all():
        return ""
    return digits(norm(values))


def _matrix(matrix: Matrix) -> Table:
    """A matrix by its numbers where they are few, a larger Hessian by its blocks."""
    if max(matrix.shape) <= MOST_NUMBERS:
        named = zip(element_names(matrix.rows), matrix.whole(), strict=True)
        lines = [[name, *line] for name, line in named]
        head = ["", *element_names(matrix.columns)]
        return Table(head, lines, matrix.name, matrix.note(), is_matrix=True)
    if matrix.name != "hessian" or max(len(matrix.rows), len(matrix.columns)) > MOST_BANDS:
        return Table([], [], matrix.name, matrix.note())
    paths = [band.path for band in matrix.columns]
    lines = [
        [row.path, *(_cell(matrix.blocks.get((row.path, path))) for path in paths)]
        for row in matrix.rows
    ]
    return Table(["", *paths], lines, matrix.name, matrix.note())


@report.register
def _(explained: Explanation) -> Iterator[Block]:
    request = RequestView.of(explained.raw)
    cost = f"{explained.flops:,} operations on large arrays, {explained.peak_bytes:,} bytes at once"
    spent = "" if explained.seconds is None else f", {digits(1e6 * explained.seconds)} µs"
    query = request.document.get("query") or "gradient"
    yield Title("Explanation", f"of {query}: {cost}{spent}")
    nodes = [
        [*_operation(each), cut(each.name or ""), _shown(each.value), _shown(each.adjoint)]
        for each in (explained.nodes or ())[:MOST_ROWS]
    ]
    head = ["slot", "operation", "of", "type", "line"]
    more = len(explained.nodes or ()) - len(nodes)
    yield Table([*head, "name", "value", "adjoint"], nodes, "recorded", more=more)
    lines = list(_explained(explained.instructions))
    shown, more = lines[:MOST_ROWS], len(lines[MOST_ROWS:])
    yield Table([*head, "op", "bytes", "µs"], shown, "replayed", more=more)
    yield from _notices(explained, request)
    yield Remarks([f"{name} {length:,}" for name, length in explained.stages.items()])
    yield Remarks(_about_request(explained))


def _explained(found: Sequence[ExplainedInstruction], depth: int = 0) -> Iterator[list[Any]]:
    """A row for each instruction, those of bodies below it."""
    for each in found:
        time = "" if each.seconds is None else digits(1e6 * each.seconds)
        yield [*_operation(each, depth), f"{each.flops:,}", f"{each.bytes:,}", time]
        yield from _explained(each.body, depth + 1)


def _operation(each: ExplainedInstruction | ExplainedNode, depth: int = 0) -> list[str]:
    """Slot, operation, operands, type and line of an instruction; a derivative's has a prime."""
    place = each.place
    name = cut(f"{each.op}[{each.parameters}]", 32) if each.parameters else each.op
    if isinstance(each, ExplainedInstruction) and each.constant is not None:
        name = f"{each.op} {digits(each.constant)}"
    typed = "" if each.dtype is None else f"{each.dtype}[{','.join(map(str, each.shape or ()))}]"
    line = place.id or "" if place.line is None else f"{place.line}"
    prime = "′" if isinstance(each, ExplainedInstruction) and each.derivative else ""
    indent = "\N{NO-BREAK SPACE}" * 2 * depth
    return [
        f"{each.slot}",
        indent + name,
        cut(", ".join(map(str, each.operands))),
        typed,
        line + prime,
    ]


def _shown(value: Any) -> Any:
    """An array, or the range of one."""
    if isinstance(value, ArraySummary):
        if value.min is None or value.max is None:
            return "none is finite"
        bad = f", {value.nonfinite:,} not finite" if value.nonfinite else ""
        return f"{digits(value.min)} … {digits(value.max)}{bad}"
    return "" if value is None else value


def _nonfinite(way: str, node: Nonfinite) -> str:
    """A sentence about the first non-finite value of a pass."""
    if node.instruction == "input":
        count = sum(each.nonfinite for each in node.operands)
        return f"Non-finite input: {node.id or 'a variable'} has {count:,} such elements"
    given = [
        digits(each.min) if each.min == each.max else f"{digits(each.min)} … {digits(each.max)}"
        for each in node.operands
        if each.min is not None and each.max is not None
    ]
    by = f", by {node.instruction}" if node.instruction and node.instruction != node.op else ""
    of = f", given {' and '.join(given)}" if given else ""
    hint = f"; {node.hint}" if node.hint else ""
    where = node.op or node.id or "an unknown operation"
    return f"First non-finite value, {way}: {where}{by}{of}{hint}"


@report.register
def _(recording: Recording) -> Iterator[Block]:
    kind = "persistent tape" if recording.persistent else "tape for one question"
    expiry = f"{recording.expires_at:%Y-%m-%d %H:%M:%S %Z}"
    size = f"{recording.length:,} instructions, {recording.memory_bytes:,} bytes"
    yield Title("Recording", f"of a {kind}: {size}, until {expiry}")
    yield Remarks([f"watched: {cut(', '.join(recording.watched), 90)}"])
    lines = list(_instructions(recording.instructions))
    more = len(lines[MOST_ROWS:]) + recording.length - len(recording.instructions)
    yield Table(["slot", "instruction", "of", "type", "line"], lines[:MOST_ROWS], more=more)


def _instructions(found: Sequence[Instruction], depth: int = 0) -> Iterator[list[str]]:
    """A row for each instruction, those of loops' bodies below it."""
    for each in found:
        line = "" if each.node is None or each.node.line is None else f"{each.node.line}"
        name = "\N{NO-BREAK SPACE}" * 2 * depth + each.op
        yield [f"{each.slot}", name, cut(", ".join(map(str, each.args))), each.type, line]
        yield from _instructions(each.body, depth + 1)
