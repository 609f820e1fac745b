"""The common parts of figures of gradients."""

from __future__ import annotations

import io
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gradwire.display.heatmaps import ABOVE, BELOW, ODD
from gradwire.display.sources import BROKEN, EXPLODING, OUTLYING, VANISHING

#: Colours by mark; the empty mark is the normal case.
COLOURS = {
    "": "#6b7c93",
    VANISHING: "#{:02x}{:02x}{:02x}".format(*BELOW),
    EXPLODING: "#{:02x}{:02x}{:02x}".format(*ABOVE),
    BROKEN: "#{:02x}{:02x}{:02x}".format(*ODD),
}


def canvas(width: float, height: float) -> Figure:
    """An empty figure, its size in inches, which notebooks show even without pyplot."""
    return _ShownFigure(figsize=(width, height), layout="constrained")


def diverging() -> Colormap:
    """A colour map: blue below zero, white at zero, orange above, magenta for NaN."""
    ends = COLOURS[VANISHING], "#ffffff", COLOURS[EXPLODING]
    return LinearSegmentedColormap.from_list("gradwire", ends).with_extremes(bad=COLOURS[BROKEN])


def plain(axes: Axes, title: str) -> None:
    """Set the title, and remove most of the frame."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.tick_params(labelsize=8.5, length=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_linewidth(0.6)


def explain(figure: Figure, marks: Iterable[str], note: str = "") -> None:
    """A legend of the marks, if any, and a note."""
    told = {
        VANISHING: f"vanishing: less than the median, {OUTLYING:.0f} times",
        EXPLODING: f"exploding: more than the median, {OUTLYING:.0f} times",
        BROKEN: "not finite",
    }
    shown = [mark for mark in told if mark in set(marks)]
    handles = [Line2D([], [], marker="s", linestyle="", color=COLOURS[mark]) for mark in shown]
    labels = [told[mark] for mark in shown]
    if note:
        handles.append(Line2D([], [], linestyle=""))
        labels.append(note)
    if handles:
        figure.legend(
            handles,
            labels,
            loc="outside lower left",
            ncols=len(handles),
            frameon=False,
            fontsize=8.5,
        )


class _ShownFigure(Figure):
    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=110)
        return picture.getvalue()
