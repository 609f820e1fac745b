"""The norms of gradients over many steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gradwire.display.canvas import COLOURS, canvas, plain
from gradwire.display.messages import cut
from gradwire.display.sources import BROKEN, SourceGradient

#: Sources that have a line of their own, and a row in the map.
MOST_LINES = 8
MOST_ROWS = 40


def draw_steps(steps: Sequence[Sequence[SourceGradient]]) -> Figure:
    """Lines of norms, and a map of the sizes of elements, source by source."""
    paths = list(dict.fromkeys(source.path for step in steps for source in step))
    norms = np.full((len(paths), len(steps)), np.nan)
    sizes = norms.copy()
    broken = np.zeros(norms.shape, bool)
    rows = {path: i for i, path in enumerate(paths)}
    for j, step in enumerate(steps):
        for source in step:
            i = rows[source.path]
            broken[i, j] = source.stats.nonfinite > 0
            sizes[i, j] = source.rms
            norms[i, j] = math.nan if broken[i, j] else source.stats.norm
    shown = min(len(paths), MOST_ROWS)
    height = max(3.4, 1.1 + 0.2 * shown)
    figure = canvas(11, min(height, 9))
    lines, table = figure.subplots(1, 2, width_ratios=(3, 2))
    _lines(lines, paths, norms, broken)
    _map(figure, table, paths, sizes, broken)
    return figure


def _lines(
    axes: Axes, paths: Sequence[str], norms: NDArray[np.float64], broken: NDArray[np.bool_]
) -> None:
    """The norm of all, and of each source, or of those that are largest and smallest in the end."""
    at = np.arange(norms.shape[1])
    dot = "o" if len(at) <= 30 else ""  # few steps: mark each
    positive = np.where(norms > 0, norms, np.nan)  # zero has no place among powers of ten
    order = np.argsort(-np.nan_to_num(positive[:, -1], nan=-1.0), kind="stable")
    if len(paths) > MOST_LINES:
        order = np.concatenate([order[: MOST_LINES // 2], order[-MOST_LINES // 2 :]])
        axes.plot(at, positive.T, color=COLOURS[""], linewidth=0.5, alpha=0.35)
    for i in order:
        axes.plot(
            at, positive[i], linewidth=1.4, marker=dot, markersize=3.5, label=cut(paths[i], 28)
        )
    total = np.hypot.reduce(np.nan_to_num(norms), axis=0)
    total = np.where(broken.any(axis=0) | (total == 0), np.nan, total)
    axes.plot(
        at,
        total,
        color="black",
        linewidth=1.6,
        linestyle=":",
        marker=dot,
        markersize=3.5,
        label="all",
    )
    if np.isfinite(positive).any():
        axes.set_yscale("log")
    hit = np.flatnonzero(broken.any(axis=0))
    if hit.size:
        (crosses,) = axes.plot(hit, np.ones(hit.size), "x", color=COLOURS[BROKEN], label=BROKEN)
        crosses.set_transform(axes.get_xaxis_transform())  # at the top, whatever the norms are
        crosses.set_clip_on(False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("step", fontsize=9)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    legend = axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for words in legend.get_texts():
        words.set_fontfamily("monospace")
    plain(axes, "norm")


def _map(
    figure: Figure,
    axes: Axes,
    paths: Sequence[str],
    sizes: NDArray[np.float64],
    broken: NDArray[np.bool_],
) -> None:
    """The size of elements of each source at each step, as powers of ten."""
    kept = np.linspace(0, len(paths) - 1, min(len(paths), MOST_ROWS)).round().astype(int)
    logs = np.full(sizes.shape, np.nan)
    np.log10(sizes, out=logs, where=sizes > 0)
    # Zero has no place among powers of ten, and is left clear.
    low, high = (np.nanmin(logs), np.nanmax(logs)) if np.isfinite(logs).any() else (-1.0, 0.0)
    image = axes.imshow(
        logs[kept], vmin=low, vmax=high, cmap="viridis", aspect="auto", interpolation="nearest"
    )
    hit = np.where(broken[kept], 1.0, np.nan)
    axes.imshow(hit, cmap=ListedColormap([COLOURS[BROKEN]]), aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(kept)), [cut(paths[i], 24) for i in kept])
    for label in axes.get_yticklabels():
        label.set_fontfamily("monospace")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("step", fontsize=9)
    bar = figure.colorbar(image, ax=axes, fraction=0.05)
    bar.ax.tick_params(labelsize=8)
    bar.ax.set_title("$\\log_{10}$", fontsize=8)
    plain(axes, "size of an element (root mean square)")
