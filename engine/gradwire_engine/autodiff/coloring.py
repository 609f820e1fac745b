"""Colouring of sparse matrices: columns of one colour are known from one product with their sum.

Source: Gebremedhin, Manne and Pothen, What Color Is Your Jacobian? (2005). Sets of colours are the
bits of integers, so that the time is linear in the nonzeros for a fixed number of colours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire_engine.answer import Poll
from gradwire_engine.autodiff.sparsity import Indices, Pattern

Colors: TypeAlias = NDArray[np.int64]


def color_columns(pattern: Pattern, poll: Poll) -> Colors:
    """A colour for each column, so that no two columns of one colour share a row.

    Greedy distance-1 colouring of the columns' conflict graph, which is never made.
    """
    conflicts = np.bincount(pattern.rows, minlength=pattern.shape[0])
    members = _by_column(pattern)
    used = [0] * pattern.shape[0]
    colors = np.zeros(pattern.shape[1], np.int64)
    for column in _largest_first(pattern, conflicts[pattern.rows]):
        poll()
        taken = 0
        for row in members[column]:
            taken |= used[row]
        color = _lowest_free(taken)
        for row in members[column]:
            used[row] |= color
        colors[column] = color.bit_length() - 1
    return colors


def color_symmetric(pattern: Pattern, poll: Poll) -> Colors:
    """A star colouring of a symmetric matrix: a colour for each column.

    Adjacent vertices differ, and no path of four vertices has only two colours. Greedy: of each
    vertex is kept what its neighbours must not become, so that none looks further than to them.
    """
    neighbors = [
        [other for other in others if other != vertex]
        for vertex, others in enumerate(_by_column(pattern))
    ]
    size = len(neighbors)
    colors: list[int] = [0] * size  # as one bit each; 0 is none yet
    near = [0] * size  # colours of the neighbours
    hubs = [0] * size  # of those, colours of such that have two neighbours of this one's colour
    first: list[dict[int, int]] = [{} for _ in range(size)]  # a neighbour of each colour
    for vertex in _largest_first(pattern, np.ones_like(pattern.rows)):
        poll()
        colored: defaultdict[int, list[int]] = defaultdict(list)
        for other in neighbors[vertex]:
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
        for other in neighbors[vertex]:
            first[other].setdefault(own, vertex)
            near[other] |= own
    return np.array([color.bit_length() - 1 for color in colors], np.int64)


def _lowest_free(taken: int) -> int:
    """The lowest bit that is not set in ``taken``."""
    return ~taken & (taken + 1)


def _by_column(pattern: Pattern) -> list[list[int]]:
    """The rows of each column."""
    rows = pattern.rows[np.argsort(pattern.columns, kind="stable")].tolist()
    counts = np.bincount(pattern.columns, minlength=pattern.shape[1])
    return [rows[start:stop] for start, stop in pairwise([0, *np.cumsum(counts).tolist()])]


def _largest_first(pattern: Pattern, weights: Indices) -> Iterator[int]:
    """Columns, those with most weight first, equal ones in order."""
    totals = np.bincount(pattern.columns, weights, minlength=pattern.shape[1])
    yield from np.argsort(-totals, kind="stable").tolist()
