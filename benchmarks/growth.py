"""Growth of cost with the size of arrays and the length of programs, as tables and plots.

A full report draws the plots into ``docs/pictures/growth.svg``, if matplotlib is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

from gradwire_engine import Call, Engine, Limits, Query
from measure import interleave, shown, table
from peers.tools import gradwire, numpy
from peers.workloads import WORKLOADS, Problem
from programs import Case, chain

#: Programs by their label in plots, and the number of values per example of the data.
PROGRAMS = {
    "Rosenbrock": ("Rosenbrock, n = 10", 1),
    "12 elementwise": ("12 elementwise, n = 1,000,000", 1),
    "logistic, 10 columns": ("logistic, 10,000 x 100", 10),
}
PLOT = Path(__file__).parents[1] / "docs/pictures/growth.svg"
#: The minimum duration of a round in seconds.
_ROUND = 0.01
_UNLIMITED = Limits(instructions=10**9)
#: Legible on light and dark backgrounds.
_INK, _COLOURS = "#808080", ("#2a9d8f", "#d1762b", "#7b6fd0")


class Point(NamedTuple):
    """The time per element or operation in nanoseconds: two figures to compare."""

    number: int
    figure: float
    reference: float


Curves = dict[str, list[Point]]


def report(*, quick: bool) -> list[str]:
    """Both kinds of growth; a quick report stops at a tenth or a hundredth of the largest size."""
    most, longest, rounds = (10**5, 1_000, 3) if quick else (10**7, 100_000, 7)
    sizes = {name: by_size(name, decades(most), rounds) for name in PROGRAMS}
    lengths = by_length(decades(longest), rounds)
    if find_spec("matplotlib") and not quick:
        draw(PLOT, sizes, lengths)
    return [
        *[_told(name, "elements", ["gradwire", "by hand"], sizes[name]) for name in sizes],
        _told("A chain, for each operation", "operations", ["first call", "later"], lengths),
    ]


def decades(most: int) -> list[int]:
    """The powers of ten from 10."""
    return [10**power for power in range(1, len(str(most)))]


def by_size(name: str, sizes: Sequence[int], rounds: int) -> list[Point]:
    """The time of value and gradient per element, by Gradwire and by hand."""
    what, columns = PROGRAMS[name]
    row, points = WORKLOADS[what], []
    for size in sizes:
        counts = {"n": size // columns} | ({"d": columns} if columns > 1 else {})
        problem = Problem(row, row.text(counts), row.drawn(counts), {})
        ours, by_hand = interleave(rounds, *[_timed(tool(problem)) for tool in (gradwire, numpy)])
        points.append(Point(size, median(ours) / size, median(by_hand) / size))
    return points


def by_length(lengths: Sequence[int], rounds: int) -> list[Point]:
    """The time of first and later calls per operation of a chain on ten numbers."""
    points = []
    for length in lengths:
        firsts = [_first(chain(length)(seed)) for seed in range(rounds)]
        call = _call(chain(length)(0))
        later = interleave(rounds, _timed(partial(call.replay, _go_on)))[0]
        points.append(Point(length, median(firsts) / length, median(later) / length))
    return points


def _call(case: Case) -> Call:
    engine = Engine(_UNLIMITED)
    return engine.call(engine.parse(case.text), case.variables, Query("gradient"))


def _first(case: Case) -> float:
    """The time from the text to the gradient in nanoseconds."""
    start = process_time()
    _call(case).replay(_go_on)
    return 1e9 * (process_time() - start)


def _timed(run: Callable[[], Any]) -> Callable[[int], float]:
    """The time of a later run in nanoseconds, averaged over a round."""
    for _ in range(3):
        start = process_time()
        run()
    times = max(1, int(_ROUND / max(process_time() - start, 1e-7)))

    def measured(_: int) -> float:
        start = process_time()
        for _ in range(times):
            run()
        return 1e9 * (process_time() - start) / times

    return measured


def _told(title: str, what: str, compared: Sequence[str], points: Sequence[Point]) -> str:
    cells = [[f"{n:,}", shown(a), shown(b), f"{a / b:.2f}"] for n, a, b in points]
    head = [what, *[f"{name}, ns" for name in compared], "ratio"]
    return table(f"Growth, CPU: {title}", head, cells)


def draw(path: Path, sizes: Curves, lengths: Sequence[Point]) -> None:
    """Draw both as curves, in colours for light and dark pages."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    ink = dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), _INK)
    ink |= dict.fromkeys(("xtick.color", "ytick.color", "grid.color"), _INK)
    style: dict[Any, Any] = {**ink, "font.sans-serif": ["DejaVu Sans"], "font.size": 9}
    style |= {"svg.fonttype": "none", "svg.hashsalt": "growth"}
    with rc_context(style):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for (name, points), colour in zip(sizes.items(), _COLOURS, strict=True):
            counts, ours, by_hand = zip(*points, strict=True)
            left.loglog(counts, ours, color=colour, marker="o", markersize=3, label=name)
            left.loglog(counts, by_hand, color=colour, linestyle="--", label=f"{name}, by hand")
        counts, firsts, later = zip(*lengths, strict=True)
        right.loglog(counts, firsts, color=_COLOURS[0], marker="o", markersize=3, label="first")
        right.loglog(counts, later, color=_COLOURS[1], marker="o", markersize=3, label="later")
        left.set(xlabel="elements", ylabel="ns for each, value and gradient")
        right.set(xlabel="operations of a chain", ylabel="ns for each, value and gradient")
        for axes in (left, right):
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            axes.legend(fontsize=7, framealpha=0)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def _go_on() -> None:
    """A deadline that never passes."""
