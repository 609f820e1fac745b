"""Optimisations of published problems: how often each method ends where it should, and says so."""

from __future__ import annotations

from measure import table

from solvers.runs import METHODS, run_all
from solvers.tables import head, summary, title


def report(*, quick: bool) -> list[str]:
    """How many runs of each method were right, by collection."""
    outcomes = run_all(quick=quick)
    return [table(title(each), head(each), summary(outcomes, each)) for each in METHODS]
