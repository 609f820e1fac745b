"""Matrices as tables of HTML: their numbers, or their blocks as heat-maps of one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradwire.display.cells import Cells, cells
from gradwire.display.grids import grid
from gradwire.display.heatmaps import largest, legend, picture
from gradwire.display.leaves import LARGE, LARGE_CELLS
from gradwire.display.markup import Markup, element, joined
from gradwire.display.matrices import Band, Matrix

#: Rows and columns of a matrix whose numbers are shown, and bands of one that is drawn.
MOST_NUMBERS = 12
MOST_BANDS = 6
#: Pixels of the narrowest band.
NARROWEST = 12


def is_drawn(matrix: Matrix) -> bool:
    """True if a matrix is small enough to be shown as one."""
    few = max(matrix.shape) <= MOST_NUMBERS
    return few or max(len(matrix.rows), len(matrix.columns)) <= MOST_BANDS


def matrix_table(matrix: Matrix) -> Markup:
    """A matrix by its numbers where they are few, else by the heat-maps of its blocks."""
    if max(matrix.shape) > MOST_NUMBERS:
        return _blocks(matrix)
    row_names, column_names = (
        [name for band in bands for name in band.elements()]
        for bands in (matrix.rows, matrix.columns)
    )
    row_edges, column_edges = (
        frozenset(np.cumsum([band.size for band in bands])[:-1].tolist())
        for bands in (matrix.rows, matrix.columns)
    )
    return grid(matrix.whole(), row_names, column_names, row_edges, column_edges)


def _blocks(matrix: Matrix) -> Markup:
    height, width = _extent(matrix.shape)
    heights, widths = _shares(matrix.rows, height), _shares(matrix.columns, width)
    shown: dict[tuple[int, int], Cells] = {}
    for (i, j), block in matrix.blocks.items():
        most = (min(LARGE_CELLS[0], heights[i]), min(LARGE_CELLS[1], widths[j]))
        found = cells(block, most, len(matrix.rows[i].shape))
        if found is not None:
            shown[i, j] = found
    scale = max(map(largest, shown.values()), default=0.0)
    lines = []
    for i, row in enumerate(matrix.rows):
        items = [
            element("td", picture(shown[i, j], scale, (heights[i], widths[j]), NARROWEST))
            if (i, j) in shown
            else element("td", "none", class_="gw-quiet")
            for j in range(len(matrix.columns))
        ]
        lines.append(element("tr", element("th", row.label), *items))
    head = element("tr", element("th"), *(element("th", band.label) for band in matrix.columns))
    table = element("table", element("thead", head), element("tbody", *lines), class_="gw-blocks")
    coarsest = max(shown.values(), key=lambda each: math.prod(each.block), default=None)
    return joined(table, legend(coarsest, scale)) if coarsest is not None else table


def _extent(shape: tuple[int, int]) -> tuple[int, int]:
    """Pixels of height and width, in the matrix's proportions if possible."""
    most_height, most_width = LARGE
    ratio = shape[1] / shape[0]
    height = min(most_height, max(40, round(most_width / ratio)))
    return height, min(most_width, max(40, round(most_height * ratio)))


def _shares(bands: Sequence[Band], pixels: int) -> list[int]:
    """Pixels of each band: by the root of its size, so that small ones are seen."""
    roots = np.sqrt([band.size for band in bands])
    return [max(NARROWEST, int(pixels * root / roots.sum())) for root in roots]
