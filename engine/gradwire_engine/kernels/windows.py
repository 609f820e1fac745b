"""The values of a nest as arrays, of which readers take windows.

What is computed at neighbouring numbers of the outermost loop, as ``r`` in ``r[1:] - r[:-1]``, is
one array with a few rows more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import prod
from typing import NamedTuple, TypeAlias

from gradwire_engine.kernels.form import Apply, Load, Nest, Node, Value

#: Rows between windows on memory that are still computed together, of so many elements in all.
_NEAR, _NEAR_ELEMENTS = 8, 1024
#: The number of an array, and by how many rows a window on it is moved; 0 where all rows are one.
Window: TypeAlias = tuple[int, int]


class Rows(NamedTuple):
    """The values of a node that varies along these ``loops``.

    For the rows from ``begin`` to ``end`` of the outermost loop it has those from ``begin + low``
    to ``end + high``.
    """

    node: Node
    args: tuple[Window, ...]
    loops: tuple[bool, ...]
    low: int = 0
    high: int = 0

    @property
    def moves(self) -> bool:
        """True if it varies along the outermost loop."""
        return self.loops[0]


class Windows:
    """The ``arrays`` of a nest that has loops, and the window that each root stores or reduces."""

    def __init__(self, nest: Nest) -> None:
        self.arrays: list[Rows] = []
        self._found: dict[object, int] = {}
        self._moves = _moves(nest)
        windows: list[Window] = []
        for value, node in enumerate(nest.nodes):
            windows.append(self._window(value, node, windows))
        self.roots = [windows[root.value] for root in nest.roots]
        self._widen()

    def _window(self, value: Value, node: Node, windows: Sequence[Window]) -> Window:
        if isinstance(node, Load):
            moved, own = self._moves.get(value, (0, node))
            loops = tuple([c != 0 for c in node.at.coefficients])
            return self._numbered(own, Rows(own, (), loops)), moved
        if not isinstance(node, Apply):
            return self._numbered((type(node), node), Rows(node, (), (False,))), 0
        read = [windows[arg] for arg in node.args]
        moving = [moved for number, moved in read if self.arrays[number].moves]
        base = moving[0] if moving else 0
        args = tuple([(n, moved - base if self.arrays[n].moves else 0) for n, moved in read])
        along = zip_longest(*[self.arrays[number].loops for number, _ in args], fillvalue=False)
        loops = tuple(map(any, along))
        key = node.function, node.char, args
        return self._numbered(key, Rows(node, args, loops)), base

    def _numbered(self, key: object, rows: Rows) -> int:
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = len(self.arrays)
            self.arrays.append(rows)
        return found

    def _widen(self) -> None:
        """Make arrays as wide as what reads them needs."""
        needed: list[list[int]] = [[] for _ in self.arrays]
        for number, moved in self.roots:
            needed[number].append(moved)
        for number in range(len(self.arrays) - 1, -1, -1):
            rows = self.arrays[number]
            low, high = min(needed[number], default=0), max(needed[number], default=0)
            self.arrays[number] = rows = rows._replace(low=low, high=high)
            for arg, moved in rows.args:
                needed[arg] += [low + moved, high + moved] if self.arrays[arg].moves else [0]


def _moves(nest: Nest) -> dict[Value, tuple[int, Load]]:
    """By how many rows each load is moved, and from which it is: the foremost near it."""
    width = prod(nest.lengths[1:])
    near = min(_NEAR, _NEAR_ELEMENTS // max(width, 1))
    alike: dict[object, list[tuple[int, Value]]] = {}
    for value, node in enumerate(nest.nodes):
        if isinstance(node, Load) and node.at.coefficients[0]:
            rows, rest = divmod(node.at.offset, node.at.coefficients[0])
            alike.setdefault((node.buffer, node.at.coefficients, rest), []).append((rows, value))
    found: dict[Value, tuple[int, Load]] = {}
    for loads in alike.values():
        loads.sort()
        first, last = loads[0], loads[0][0]
        for rows, value in loads:
            if rows - last > near:
                first = rows, value
            last = rows
            node = nest.nodes[first[1]]
            assert isinstance(node, Load)
            found[value] = rows - first[0], node
    return found
