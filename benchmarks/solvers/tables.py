"""Outcomes in tables: how often each method was right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from solvers.judge import VERDICTS, Verdict
from solvers.runs import METHODS, TITLES, Collection, Outcome

HEAD = ("", "runs", *VERDICTS, "median iterations")
#: A certified number of digits that fits should have.
_DIGITS = 6.0


def of_collection(outcomes: Iterable[Outcome], collection: Collection) -> list[Outcome]:
    """The outcomes of one collection."""
    return [each for each in outcomes if each.collection == collection]


def summary(outcomes: Sequence[Outcome], collection: Collection) -> list[list[str]]:
    """A row for each method: its runs by verdict, and its iterations where it was right."""
    rows = []
    for method in METHODS[collection]:
        of = [each for each in of_collection(outcomes, collection) if each.method == method]
        right = [each.iterations for each in of if each.verdict == "right"]
        counts = [str(_count(of, verdict)) for verdict in VERDICTS]
        row = [method, str(len(of)), *counts, f"{median(right):.0f}" if right else "-"]
        if collection == "nist":
            sure = sum(each.success and (each.digits or 0.0) >= _DIGITS for each in of)
            row.append(str(sure))
        rows.append(row)
    return rows


def head(collection: Collection) -> list[str]:
    """The heading of the summary."""
    return [*HEAD, "6 digits"] if collection == "nist" else [*HEAD]


def title(collection: Collection) -> str:
    """The title of the summary."""
    return TITLES[collection]


def _count(outcomes: Iterable[Outcome], verdict: Verdict) -> int:
    return sum(each.verdict == verdict for each in outcomes)
