"""Results of optimisations, and jobs, as reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gradwire.display.blocks import Block, Picture, Problem, Remarks, Table, Title
from gradwire.display.curves import curves
from gradwire.display.figures import cut, digits
from gradwire.display.following import summary
from gradwire.display.html import element
from gradwire.display.reports import MOST_ROWS, report
from gradwire.display.rows import rows
from gradwire.optimization.handles import JobHandle
from gradwire.optimization.results import OptimizeResult
from gradwire.trees import MISSING
from gradwire.values import type_of


@report.register(OptimizeResult)
def _(found: OptimizeResult) -> Iterator[Block]:
    """The solution, how it was found, and the way there as curves."""
    value = found.get("fun", found.get("cost"))
    name = "cost" if "cost" in found else "fun"
    of = f"{name} {digits(value)}" if isinstance(value, float) else "a root"
    steps = found.get("nit", 0)
    yield Title("OptimizeResult", f"{of} after {steps:,} iteration{'' if steps == 1 else 's'}")
    if "x" in found:
        leaves = rows({"x": found.x}, MISSING)
        lines = [_line(path, each) for path, each in islice(leaves, MOST_ROWS)]
        yield Table(["parameter", "type", "x"], lines, more=sum(1 for _ in leaves))
    if found.get("success") is False:
        yield Problem(f"no success: {found.message}")
    history = found.get("history")
    if history is not None and len(history["iteration"]) > 1:
        yield Picture(element("div", _curves(history)))
    counted = [f"{name} {found[name]:,}" for name in ("nfev", "njev", "nhev") if name in found]
    norm = found.get("gradient_norm")
    counted += [] if norm is None else [f"gradient {digits(norm)}"]
    yield Remarks([*([found.message] if found.get("success") else []), *counted])


def _line(path: str, leaves: Mapping[str, Any]) -> list[Any]:
    return [cut(path), type_of(leaves["x"]), leaves["x"]]


def _curves(history: Mapping[str, Any]) -> str:
    panels = [("value", history["value"]), ("gradient", history["gradient_norm"])]
    return curves(history["iteration"], panels)


@report.register(JobHandle)
def _(job: JobHandle[Any]) -> Iterator[Block]:
    """A job's state, and how far it is."""
    yield Title("Job", f"{job.id}: {job.kind}, {job.state}")
    progress = job.progress
    if progress is not None:
        rate = [] if progress.rate is None else [f"{digits(progress.rate)} per second"]
        yield Remarks([f"iteration {progress.iteration:,}", summary(progress), *rate])
    problem = job.document.problem
    if problem is not None:
        yield Problem(f"{problem.get('detail') or problem.get('title')}")
