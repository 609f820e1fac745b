"""Optimisations beside the data: in one request, short ones, and how soon they are cancelled."""

from __future__ import annotations

from jobs import cancelling, fits, short


def report(*, quick: bool) -> list[str]:
    """Long runs, short runs, and the ends of jobs."""
    return [page for part in (fits, short, cancelling) for page in part.report(quick=quick)]
