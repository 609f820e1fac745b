"""Curves of an optimisation, value and gradient by iteration, as SVG that loads nothing.

Lines have the page's own colour, light or dark. Where all values are positive and some are a
hundred times others, the axis is logarithmic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.figures import digits
from gradwire.display.html import Markup, element

#: The size of a panel, and of the margins around its curve.
WIDTH, HEIGHT = 300, 150
LEFT, RIGHT, TOP, BOTTOM = 62, 8, 20, 22
#: Values of which the largest is more times the least are drawn by their logarithms.
LOGARITHMIC_FROM = 100.0
COLOURS = ("#f06012", "#3478f6")


def curves(iterations: Sequence[Any], panels: Sequence[tuple[str, Sequence[Any]]]) -> Markup:
    """The panels side by side, each a curve of values by iteration."""
    at = np.asarray(iterations, np.float64)
    drawn = [
        element(
            "g",
            *_panel(at, np.asarray(values, np.float64), title, COLOURS[i % len(COLOURS)]),
            transform=f"translate({i * (WIDTH + 10)},0)",
        )
        for i, (title, values) in enumerate(panels)
    ]
    width = len(panels) * (WIDTH + 10)
    return element(
        "svg",
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {HEIGHT}",
        width=width,
        height=HEIGHT,
        style="max-width:100%;font:11px system-ui,sans-serif",
    )


def _panel(at: NDArray[Any], values: NDArray[Any], title: str, colour: str) -> list[Markup]:
    """A frame with the ends of both axes, and the curve of what is finite."""
    finite = np.isfinite(values) & np.isfinite(at)
    at, values = at[finite], values[finite]
    parts = [
        element("text", title, x=LEFT, y=13, fill="currentColor", font_weight=600),
        element(
            "path",
            d=f"M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}",
            fill="none",
            stroke="currentColor",
            opacity=0.4,
        ),
    ]
    if not values.size:
        return parts
    low, high = float(values.min()), float(values.max())
    is_logarithmic = low > 0 and high > LOGARITHMIC_FROM * low
    heights = np.log(values) if is_logarithmic else values
    x = LEFT + _share(at) * (WIDTH - LEFT - RIGHT)
    y = HEIGHT - BOTTOM - _share(heights) * (HEIGHT - TOP - BOTTOM)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    parts += [
        _label(digits(high, 3), LEFT - 5, TOP + 8, "end"),
        _label(digits(low, 3), LEFT - 5, HEIGHT - BOTTOM, "end"),
        _label(digits(int(at[0])), LEFT, HEIGHT - 8, "start"),
        _label(digits(int(at[-1])), WIDTH - RIGHT, HEIGHT - 8, "end"),
        element("polyline", points=points, fill="none", stroke=colour, stroke_width=1.6),
        element("circle", cx=f"{x[-1]:.1f}", cy=f"{y[-1]:.1f}", r="2.5", fill=colour),
    ]
    return parts


def _label(text: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, fill="currentColor", opacity=0.7)


def _share(values: NDArray[Any]) -> NDArray[Any]:
    """Each value's place between the least and the largest, from 0 to 1."""
    low, span = values.min(), np.ptp(values)
    return (values - low) / span if span > 0 else np.full(values.shape, 0.5)
