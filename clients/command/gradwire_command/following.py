"""A bar of rich with the progress of a job, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradwire.display.figures import digits
from gradwire.display.following import summary
from gradwire.progress import ignore
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from gradwire.optimization.handles import JobProgress


@contextmanager
def following(kind: str, total: float | None) -> Iterator[Callable[[JobProgress], Any]]:
    """Show each progress that this is called with, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield ignore
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(kind, total=total, told="")

        def advance(progress: JobProgress) -> None:
            told = f"iteration {progress.iteration:,}, {summary(progress)}"
            told += "" if progress.rate is None else f", {digits(progress.rate, 3)}/s"
            bars.update(task, completed=progress.iteration, told=told)

        yield advance
