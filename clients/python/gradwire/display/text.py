"""Reports for terminals, as tables of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwire.display.blocks import Block, Problem, Remarks, Table, Title
from gradwire.display.figures import brief
from gradwire.display.reports import report


def text(shown: Any) -> str:
    """An answer as some 60 lines of text at most."""
    return "\n".join(line.rstrip() for block in report(shown) for line in _lines(block))


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Title(name, about):
            yield f"{name} {about}"
        case Table():
            if block.title:
                yield f"  {block.title} {block.note}"
            yield from _table(block)
        case Problem(sentence, excerpt):
            yield f"! {sentence}"
            yield from excerpt
        case Remarks(parts) if parts:
            yield f"  {' · '.join(parts)}"


def _table(table: Table) -> Iterator[str]:
    """Columns that are aligned."""
    cells = [[c if isinstance(c, str) else brief(c) for c in line] for line in table.cells()]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  " + "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True))
    if table.more:
        yield f"  … and {table.more:,} more"
