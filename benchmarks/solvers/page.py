"""docs/explanation/solvers.md: the outcomes before and after, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from solvers.judge import Verdict
from solvers.runs import METHODS, Collection, Outcome
from solvers.tables import head, of_collection, summary, title

COLUMNS = ("before", "after")
PAGE = Path(__file__).parents[2] / "docs/explanation/solvers.md"
Columns: TypeAlias = Mapping[str, Sequence[Outcome]]
_MARKS: Mapping[Verdict, str] = {
    "right": "✓",
    "elsewhere": "○",
    "wrong": "✗",
    "failed": "–",
    "missed": "?",
    "refused": "·",
}
#: Where the tables begin, below what is written by hand.
_FIRST = "## How often each method is right\n"


def write(columns: Columns) -> None:
    """Write the page from the outcomes of its columns, of which some may be empty."""
    above, _, _ = PAGE.read_text("utf-8").partition(_FIRST)
    PAGE.write_text(above + tables(columns), "utf-8")


def tables(columns: Columns) -> str:
    """The part of the page that is written here."""
    known = {name: outcomes for name, outcomes in columns.items() if outcomes}
    parts = [_FIRST]
    parts += [_summary(known, each) for each in METHODS]
    parts += ["## Each problem\n"]
    parts += [_problems(known, each) for each in METHODS]
    return "\n".join(parts)


def _summary(columns: Columns, collection: Collection) -> str:
    sides = [summary(outcomes, collection) for outcomes in columns.values()]
    rows = [
        [_pair(cells) for cells in zip(*same, strict=True)] for same in zip(*sides, strict=True)
    ]
    return _table(title(collection), head(collection), rows)


def _problems(columns: Columns, collection: Collection) -> str:
    found: list[dict[tuple[str, str], str]] = []
    names: dict[str, None] = {}
    for outcomes in columns.values():
        of = of_collection(outcomes, collection)
        names.update(dict.fromkeys(each.problem for each in of))
        found.append({(each.problem, each.method): _mark(each) for each in of})
    methods = METHODS[collection]
    rows = [
        [name, *(_pair([of.get((name, method), "") for of in found]) for method in methods)]
        for name in names
    ]
    return _table(title(collection), ["", *methods], rows)


def _mark(outcome: Outcome) -> str:
    mark = _MARKS[outcome.verdict]
    return mark if outcome.digits is None else f"{mark} {outcome.digits:.1f}"


def _pair(cells: Sequence[str]) -> str:
    """The entries of all columns, or the one that they have in common."""
    return cells[0] if len(set(cells)) == 1 else " → ".join(cells)


def _table(heading: str, first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [first, ["---"] * len(first), *rows]
    return f"### {heading}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
