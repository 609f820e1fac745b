"""Leaves in the cells of a table: numbers if they fit, else a heat-map that opens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display import messages
from gradwire.display.cells import as_matrix, cells
from gradwire.display.figures import digits, numbers, summary
from gradwire.display.grids import exact, grid
from gradwire.display.heatmaps import largest, legend, picture
from gradwire.display.markup import Markup, element, row
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING

#: Rows and columns of arrays shown as numbers, in a table and in details that open.
MOST_INLINE = (4, 6)
MOST_OPENED = (24, 12)
#: Elements of a vector that are listed.
LONGEST_LISTED = 240
#: Cells, and pixels, of heat-maps in a table, and of those that open.
SMALL_CELLS, SMALL = (20, 75), (40, 150)
LARGE_CELLS, LARGE = (96, 128), (288, 512)


def leaf_cell(leaf: Any, opens: bool = True) -> Markup:
    """A leaf; a large one ``opens`` to its numbers or to a larger heat-map."""
    if leaf is MISSING:
        return Markup("")
    if leaf is None:
        return element("span", "none", class_="gw-quiet")
    if numbers(leaf) is None:
        return element("span", messages.cut(repr(leaf)), class_="gw-no")
    if not isinstance(leaf, (SparseArray, RaggedArray)) and np.ndim(leaf) == 0:
        kind = "gw-no" if np.isfinite(leaf) else "gw-no gw-odd"
        return element("span", digits(leaf), class_=kind, title=exact(leaf))
    if fits(leaf, MOST_INLINE):
        return grid(lines_of(leaf))
    shown = cells(leaf, SMALL_CELLS)
    stats = summary(leaf)
    caption = element("span", messages.extent(stats) if stats else "", class_="gw-more")
    if shown is None:
        return caption
    head = picture(shown, largest(shown), SMALL), caption
    if not opens:
        return row("span", *head, class_="gw-inline")
    return element("details", row("summary", *head), _opened(leaf))


def summary_cell(leaf: Any) -> Markup:
    """Summary statistics of a leaf that is drawn elsewhere."""
    stats = None if leaf is None or leaf is MISSING else summary(leaf)
    return element("span", messages.extent(stats) if stats else "", class_="gw-more")


def fits(leaf: Any, most: tuple[int, int]) -> bool:
    """True if a dense or ragged array fits into these rows and columns."""
    if isinstance(leaf, SparseArray):
        return False
    if isinstance(leaf, RaggedArray):
        longest = int(np.diff(leaf.row_splits).max(initial=0))
        return leaf.values.ndim == 1 and 0 < len(leaf) <= most[0] and 0 < longest <= most[1]
    height, width = as_matrix(np.shape(leaf))
    return np.ndim(leaf) <= 2 and 0 < height <= most[0] and 0 < width <= most[1]


def lines_of(leaf: Any) -> list[NDArray[Any]]:
    """The rows of a leaf that fits."""
    if isinstance(leaf, RaggedArray):
        return list(leaf)
    array = np.asarray(leaf)
    return list(array.reshape(as_matrix(array.shape)))


def _opened(leaf: Any) -> Markup:
    """All numbers of a leaf if they can be read, else a larger heat-map."""
    if fits(leaf, MOST_OPENED):
        lines = lines_of(leaf)
        row_names = [f"{i}" for i in range(len(lines))] if len(lines) > 1 else ()
        return grid(lines, row_names, [f"{j}" for j in range(max(map(len, lines)))])
    if isinstance(leaf, np.ndarray) and leaf.ndim == 1 and leaf.size <= LONGEST_LISTED:
        ten = range(10)  # elements in a line, each named by the index of its first one
        starts = range(0, leaf.size, len(ten))
        lines = [leaf[start : start + len(ten)] for start in starts]
        return grid(lines, [f"{start}" for start in starts], [f"+{j}" for j in ten])
    shown = cells(leaf, LARGE_CELLS)
    assert shown is not None
    return element("div", picture(shown, largest(shown), LARGE), legend(shown, largest(shown)))
