"""The gradients of one step: norms, sizes of elements, and the elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from gradwire.display.canvas import COLOURS, canvas, diverging, explain, plain
from gradwire.display.cells import cells
from gradwire.display.figures import digits, numbers, sizes
from gradwire.display.heatmaps import largest
from gradwire.display.messages import cut
from gradwire.display.sources import SourceGradient, marks

#: Sources that are drawn; more are counted.
MOST_SOURCES = 24
#: Elements of which a histogram is made.
MOST_ELEMENTS = 1 << 20
#: Cells of a heat-map.
MOST_CELLS = (24, 96)


def draw_step(found: list[SourceGradient]) -> Figure:
    """A row for each source."""
    marked = marks(found)
    rest = f"{len(found) - MOST_SOURCES:,} more are not drawn" if len(found) > MOST_SOURCES else ""
    # Those that stand out are drawn before others, all in their own order.
    kept = sorted(sorted(range(len(found)), key=lambda i: not marked[i])[:MOST_SOURCES])
    found, marked = [found[i] for i in kept], [marked[i] for i in kept]
    figure = canvas(11, 1.2 + 0.4 * max(2, len(found)))
    grid = figure.add_gridspec(len(found), 3, width_ratios=(3.2, 4, 2.4))
    norms, spread = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[:, 1])
    _norms(norms, found, marked)
    _spread(spread, found, marked)
    for i, source in enumerate(found):
        _elements(figure.add_subplot(grid[i, 2]), source, "elements" if i == 0 else "")
    explain(figure, marked, rest)
    return figure


def _norms(axes: Axes, found: Sequence[SourceGradient], marked: Sequence[str]) -> None:
    """A bar for each norm, by powers of ten."""
    norms = np.array([0.0 if source.stats.nonfinite else source.stats.norm for source in found])
    positive = norms[norms > 0]
    least, most = (positive.min(), positive.max()) if positive.size else (1.0, 1.0)
    start = 10.0 ** (math.floor(math.log10(least)) - 0.5)
    bars = np.where(norms > 0, norms, start)
    colours = [COLOURS[mark] for mark in marked]
    axes.barh(range(len(found)), bars - start, left=start, color=colours, height=0.6)
    axes.set_xscale("log")
    axes.set_xlim(start, 10.0 * most * (most / start) ** 0.3)  # room for words
    axes.xaxis.set_minor_formatter(NullFormatter())
    for i, source in enumerate(found):
        broken = source.stats.nonfinite
        note = f"{broken:,} not finite" if broken else digits(norms[i], 3)
        _note(axes, bars[i], i, note)
    axes.set_yticks(range(len(found)), [cut(source.path, 28) for source in found])
    for label in axes.get_yticklabels():
        label.set_fontfamily("monospace")
    axes.set_ylim(len(found) - 0.5, -0.5)
    plain(axes, "norm")


def _spread(axes: Axes, found: Sequence[SourceGradient], marked: Sequence[str]) -> None:
    """The distribution of elements' sizes over the powers of ten: a ridge for each source."""
    logs = [_logs(source) for source in found]
    every = np.concatenate(logs)
    low, high = (math.floor(every.min()), math.ceil(every.max())) if every.size else (-1, 0)
    edges = np.linspace(low - 0.5, high + 0.5, 81)
    for i, (each, mark) in enumerate(zip(logs, marked, strict=True)):
        counts = np.histogram(each, edges)[0]
        ridge = i + 0.4 - 0.8 * counts / max(counts.max(), 1)
        axes.stairs(ridge, edges, baseline=i + 0.4, fill=True, color=COLOURS[mark], alpha=0.75)
        axes.axhline(i + 0.4, color=COLOURS[mark], linewidth=0.5)
        zeros = found[i].stats.size - np.count_nonzero(_stored(found[i]))
        if zeros:
            _note(axes, edges[0], i, f"{_percent(zeros / found[i].stats.size)} zero")
    powers = range(low, high + 1, max(1, (high - low) // 6))
    axes.set_xticks(powers, [f"$10^{{{power}}}$" for power in powers])
    axes.set_xlim(edges[0], edges[-1])
    axes.set_yticks([])
    axes.set_ylim(len(found) - 0.5, -0.5)
    plain(axes, "sizes of elements")


def _elements(axes: Axes, source: SourceGradient, title: str) -> None:
    """The heat-map of a gradient, on a scale of its own, by the root of size."""
    shown = cells(source.leaf, MOST_CELLS)
    assert shown is not None
    signs = 1.0 if np.iscomplexobj(shown.values) else np.sign(shown.values)
    image = signs * np.sqrt(sizes(shown.values) / (largest(shown) or 1.0))
    image = np.where(shown.odd, np.nan, image)
    axes.imshow(image, cmap=diverging(), vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    plain(axes, title)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.4)


def _stored(source: SourceGradient) -> NDArray[np.floating]:
    """Sizes of a leaf's elements, of a sparse one without its zeros."""
    values = numbers(source.leaf)
    assert values is not None
    return sizes(values.ravel())


def _logs(source: SourceGradient) -> NDArray[np.floating]:
    """Powers of ten of the finite, non-zero sizes, or of a sample if they are many."""
    found = _stored(source)
    found = found[:: max(1, found.size // MOST_ELEMENTS)]
    logs: NDArray[np.floating] = np.log10(found[np.isfinite(found) & (found > 0)])
    return logs


def _percent(share: float) -> str:
    """A percentage; only exact shares are written as 0% and 100%."""
    return f"{share:.0%}" if share == 1 or 0.005 <= share < 0.995 else f"{share:.2%}"


def _note(axes: Axes, x: float, y: float, words: str) -> None:
    axes.annotate(words, (x, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
