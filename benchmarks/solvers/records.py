"""Outcomes in files: one line of JSON for each run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from solvers.runs import Outcome

#: Digits of values, and of gradients' norms, that are saved.
_VALUE, _GRADIENT = 12, 2


def path(column: str) -> Path:
    """The file of a column of the page."""
    return Path(__file__).with_name(f"{column}.json")


def save(column: str, outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes of a column."""
    lines = [json.dumps(_rounded(each), ensure_ascii=False) for each in outcomes]
    path(column).write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def read(column: str) -> list[Outcome]:
    """The outcomes of a column, or none where it was not run."""
    if not path(column).exists():
        return []
    return [Outcome(*each) for each in json.loads(path(column).read_text("utf-8"))]


def _rounded(outcome: Outcome) -> list[Any]:
    value, gradient = outcome.value, outcome.gradient
    return list(
        outcome._replace(
            value=None if value is None else float(f"{value:.{_VALUE}g}"),
            gradient=None if gradient is None else float(f"{gradient:.{_GRADIENT}g}"),
        )
    )
