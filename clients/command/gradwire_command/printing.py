"""Answers for people, as tables, and for scripts, as JSON."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click
import gradwire.display.optimizations  # noqa: F401 - its reports are found by type
import numpy as np
from gradwire import codec
from gradwire.display.blocks import Block, Problem, Remarks, Title
from gradwire.display.blocks import Table as Cells
from gradwire.display.figures import brief, numbers
from gradwire.display.reports import report
from gradwire.display.spelling import answered, json_text
from gradwire.ragged import RaggedArray
from gradwire.results import Derivative
from gradwire.sparse import SparseArray
from gradwire.values import type_of
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradwire_command.session import is_json

#: Larger arrays are abbreviated, as NumPy does it.
MOST_ELEMENTS = 64
SIGNIFICANT_DIGITS = 8
#: Columns of an array's line, and of lines that no terminal limits.
ARRAY_WIDTH = 64
WIDEST = 240


@contextmanager
def printing() -> Iterator[Console]:
    """A console whose text is printed at the end, without blanks at the ends of lines."""
    width = None if sys.stdout.isatty() else WIDEST
    console = Console(file=sys.stdout, width=width, highlight=False)
    with console.capture() as captured:
        yield console
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_answer(answer: Any) -> None:
    """Print an answer of the service: the document as it is in JSON, or its report."""
    if is_json():
        response = answer.raw
        media_type = response.headers.get("Content-Type", codec.MEDIA_TYPE)
        print_json(codec.decode(response.content, media_type))
    else:
        print_report(answer)


def print_report(shown: Any) -> None:
    """Print the report of an answer, a result or a job."""
    with printing() as console:
        for block in report(shown):
            _print_block(console, block, shown)


def print_json(part: Any) -> None:
    """Print a document, or parts of answers, as JSON."""
    click.echo("".join(_json_lines(answered(plain(part)))))


def print_table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Print cells in columns, below their names; columns that are empty are left out."""
    with printing() as console:
        _print_cells(console, Cells(head, lines))


def plain(part: Any) -> Any:
    """A part of an answer as mappings, lists, arrays, numbers and text."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        return {name: plain(value) for name, value in fields.items() if name != "raw"}
    if isinstance(part, Mapping):
        return {name: plain(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [plain(value) for value in part]
    if isinstance(part, datetime):
        return part.isoformat()
    if isinstance(part, np.dtype):
        return part.name
    return np.asarray(part) if isinstance(part, np.generic) else part


def _json_lines(part: Any, indent: str = "") -> Iterator[str]:
    """JSON with a line for each member, and for each mapping of a list: arrays stay in theirs."""
    inner = f"{indent}  "
    if isinstance(part, Mapping) and part:
        yield "{"
        for i, (name, member) in enumerate(part.items()):
            yield f"{',' if i else ''}\n{inner}{json_text(name)}: "
            yield from _json_lines(member, inner)
        yield f"\n{indent}}}"
    elif isinstance(part, list) and any(isinstance(item, Mapping) for item in part):
        lines = f",\n{inner}".join(map(json_text, part))
        yield f"[\n{inner}{lines}\n{indent}]"
    else:
        yield json_text(part)


def array_text(leaf: Any) -> str:
    """An array's elements, some of them where there are many; a number in all its digits."""
    if isinstance(leaf, (SparseArray, RaggedArray)) or numbers(leaf) is None:
        return brief(leaf)
    array = np.asarray(leaf)
    if array.ndim == 0:
        return str(array[()])
    return np.array2string(
        array,
        threshold=MOST_ELEMENTS,
        precision=SIGNIFICANT_DIGITS,
        separator=", ",
        max_line_width=ARRAY_WIDTH,
    )


def _print_block(out: Console, block: Block, answer: Any) -> None:
    match block:
        case Title(name):
            about = block.about
            if isinstance(answer, Derivative) and numbers_only(answer.value):
                about = _value(answer, about)
            out.print(Text.assemble((name, "bold"), f" {about}" if about else ""))
        case Cells():
            if block.title:
                out.print(Text.assemble((block.title, "bold"), f" {block.note}"))
            _print_cells(out, block)
            if block.more:
                out.print(f"  … and {block.more:,} more")
        case Problem(sentence, excerpt):
            out.print(Text.assemble(("! ", "yellow"), sentence))
            for line in excerpt:
                out.print(Text(line), soft_wrap=True)
        case Remarks(parts) if parts:
            out.print(Text(f"{' · '.join(parts)}", style="dim"))


def numbers_only(value: Any) -> bool:
    """True if a value is one array or number."""
    return isinstance(value, (np.ndarray, np.generic))


def _value(answer: Derivative, about: str) -> str:
    verdict = about.rpartition(": ")[1:] if hasattr(answer, "checks") else ()
    shown = array_text(answer.value)
    typed = f"{type_of(answer.value)} " if np.ndim(answer.value) else ""
    return f"of {typed}{' '.join(shown.split())}{''.join(verdict)}"


def _print_cells(out: Console, cells: Cells) -> None:
    if not cells.lines:
        return
    head, *lines = cells.cells()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in head:
        table.add_column(Text(name), overflow="fold")
    for line in lines:
        shown = [cell if isinstance(cell, str) else array_text(cell) for cell in line]
        table.add_row(*map(Text, shown))
    out.print(table)
