"""Colouring of sparse matrices: columns of one colour are known from one product with their sum.

Source: Gebremedhin, Manne and Pothen, What Color Is Your Jacobian? (2005). Sets of colours are the
bits of integers, so that the time is linear in the nonzeros for a fixed number of colours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire_engine.answer import Poll
from gradwire_engine.autodiff.sparsity import Indices, Pattern
from gradwire_engine.polling import PIECE

Colors: TypeAlias = NDArray[np.int64]


def color_columns(pattern: Pattern, poll: Poll) -> Colors:
    """A colour for each column, so that no two columns of one colour share a row.

    Columns by their last place among the nonzeros of a row, where that separates all. Else greedy
    distance-1 colouring of the columns' conflict graph, which is never made.
    """
    ranked = _ranks(pattern)
    poll()
    if ranked is not None:
        return ranked
    conflicts = np.bincount(pattern.rows, minlength=pattern.shape[0])
    poll()
    columns = _Columns(pattern)
    poll()
    used = [0] * pattern.shape[0]
    colors = np.zeros(pattern.shape[1], np.int64)
    for column in columns.largest_first(conflicts[pattern.rows]):
        poll()
        taken, rows = 0, columns.rows(column)
        for row in rows:
            taken |= used[row]
        color = _lowest_free(taken)
        for row in rows:
            used[row] |= color
        colors[column] = color.bit_length() - 1
    return colors


def color_symmetric(pattern: Pattern, poll: Poll) -> Colors:
    """A star colouring of a symmetric matrix: a colour for each column.

    Adjacent vertices differ, and no path of four vertices has only two colours. Greedy: of each
    vertex is kept what its neighbours must not become, so that none looks further than to them.
    """
    if pattern.rows.size == pattern.shape[0] ** 2:  # all are neighbours
        return np.arange(pattern.shape[0])
    columns, size = _Columns(pattern), pattern.shape[0]
    poll()
    colors: list[int] = [0] * size  # as one bit each; 0 is none yet
    near = [0] * size  # colours of the neighbours
    hubs = [0] * size  # of those, colours of such that have two neighbours of this one's colour
    first: list[dict[int, int]] = [{} for _ in range(size)]  # a neighbour of each colour
    for vertex in columns.largest_first():
        poll()
        colored: defaultdict[int, list[int]] = defaultdict(list)
        around = [other for other in columns.rows(vertex) if other != vertex]
        for other in around:
            if colors[other]:
                colored[colors[other]].append(other)
        taken = 0
        for color, others in colored.items():
            taken |= color
            for other in others:  # the vertex would be the end of such a path, or between two
                taken |= hubs[other] | (near[other] if len(others) > 1 else 0)
        own = colors[vertex] = _lowest_free(taken)
        for color, others in colored.items():
            for other in others:
                if len(others) > 1:
                    hubs[other] |= own
                if own in first[other]:
                    hubs[first[other][own]] |= color
                    hubs[vertex] |= color
        for other in around:
            first[other].setdefault(own, vertex)
            near[other] |= own
    return np.array([color.bit_length() - 1 for color in colors], np.int64)


def _ranks(pattern: Pattern) -> Colors | None:
    """The last place that each column has among the nonzeros of its rows, if none share a row.

    As many colours as the longest row has nonzeros; none could do with fewer.
    """
    order = np.lexsort((pattern.columns, pattern.rows))
    rows, columns = pattern.rows[order], pattern.columns[order]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    lengths = np.diff(starts, append=rows.size)
    colors = np.zeros(pattern.shape[1], np.int64)
    np.maximum.at(colors, columns, np.arange(rows.size) - np.repeat(starts, lengths))
    found = np.sort(rows * (colors.max(initial=0) + 1) + colors[columns])
    return colors if (np.diff(found) != 0).all() else None


def _lowest_free(taken: int) -> int:
    """The lowest bit that is not set in ``taken``."""
    return ~taken & (taken + 1)


class _Columns:
    """The rows of each column, in arrays: as Python's numbers they take five times the memory."""

    def __init__(self, pattern: Pattern) -> None:
        self._of = pattern.columns
        self._count = pattern.shape[1]
        self._rows = pattern.rows[np.argsort(pattern.columns, kind="stable")]
        counts = np.bincount(pattern.columns, minlength=self._count)
        self._ends = np.cumsum(counts)

    def rows(self, column: int) -> list[int]:
        """The rows of a column."""
        start = self._ends[column - 1] if column else 0
        found: list[int] = self._rows[start : self._ends[column]].tolist()
        return found

    def largest_first(self, weights: Indices | None = None) -> Iterator[int]:
        """Columns, those with most weight first, equal ones in order."""
        totals = np.bincount(self._of, weights, minlength=self._count)
        order = np.argsort(-totals, kind="stable")
        for start in range(0, order.size, PIECE):
            yield from order[start : start + PIECE].tolist()
