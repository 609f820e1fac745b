"""Numbers in rows and columns, tinted by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.figures import digits, sizes
from gradwire.display.heatmaps import tint
from gradwire.display.markup import Markup, element

#: Nothing, as high as a number.
BLANK = "\u200b"


def grid(
    lines: Sequence[NDArray[Any]] | NDArray[Any],
    row_names: Sequence[str] = (),
    column_names: Sequence[str] = (),
    row_edges: frozenset[int] = frozenset(),
    column_edges: frozenset[int] = frozenset(),
) -> Markup:
    """Rows of numbers, of any lengths; lines are drawn ahead of the edges."""
    scale = max((_largest(line) for line in lines), default=0.0)
    width = max(map(len, lines), default=0)

    def items(line: NDArray[Any]) -> Iterator[Markup]:
        for j in range(width):
            edge = "gw-edge" if j in column_edges else None
            if j >= len(line):
                yield element("td", BLANK, class_=edge)
                continue
            style = None if line.dtype.kind == "b" else tint(line[j], scale)
            yield element("td", digits(line[j]), style=style, title=exact(line[j]), class_=edge)

    body = []
    for i, line in enumerate(lines):
        names = [element("th", row_names[i])] if row_names else []
        edge = "gw-edge" if i in row_edges else None
        body.append(element("tr", *names, *items(line), class_=edge))
    heads = []
    if column_names:
        corner = [element("th")] if row_names else []
        names = [*corner, *(element("th", name) for name in column_names)]
        heads = [element("thead", element("tr", *names))]
    return element("table", *heads, element("tbody", *body), class_="gw-grid")


def exact(number: Any) -> str:
    """All digits of a number."""
    return str(np.asarray(number)[()])


def _largest(line: NDArray[Any]) -> float:
    """The greatest size of what is finite."""
    return float(sizes(line[np.isfinite(line)]).max(initial=0.0))
