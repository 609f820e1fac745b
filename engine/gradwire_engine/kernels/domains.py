"""Loops divided where pieces of arrays begin, for printers that compute whole arrays.

Between these places it is known which piece an element is of. Nests of like domains are divided at
the same places, and those over the same part are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod
from typing import TypeAlias

from gradwire_engine.kernels.form import (
    Affine,
    Apply,
    Literal,
    Load,
    Nest,
    Node,
    Reduce,
    Root,
    Step,
    Value,
    Within,
)
from gradwire_engine.kernels.merging import merged

#: Nests whose loops differ by no more are divided together.
_NEAR = 16
#: Most parts that a nest is divided into.
_MOST_PARTS = 64
#: The begin and end of each loop.
_Box: TypeAlias = tuple[tuple[int, int], ...]


def divided(steps: Sequence[Step]) -> list[Step]:
    """Equivalent nests, of ones that do not wait for each other, without choices of a piece.

    A sum that several of them reduce into is that of all their parts. What would be too many parts,
    or is chosen by more than one index, is left as it is.
    """
    families: list[list[Nest]] = []
    for nest in steps:
        assert isinstance(nest, Nest)
        for family in families:
            if _are_near(family[0].lengths, nest.lengths):
                family.append(nest)
                break
        else:
            families.append([nest])
    return [merged(nest) for family in families for nest in _divided(family)]


def _are_near(lengths: Sequence[int], others: Sequence[int]) -> bool:
    both = zip(lengths, others, strict=False)
    return len(lengths) == len(others) and all(abs(n - other) <= _NEAR for n, other in both)


def _divided(nests: Sequence[Nest]) -> list[Nest]:
    """Those of one family."""
    places: list[set[int]] = [{0} for _ in nests[0].lengths]
    for nest in nests:
        for found, length in zip(places, nest.lengths, strict=True):
            found.add(length)
        for node in nest.nodes:
            if isinstance(node, Within):
                for loop, place in _bounds(node):
                    places[loop].add(place)
    parts: dict[_Box, _Part] = {}
    for nest in nests:
        cuts = [
            [*pairwise(sorted([p for p in found if 0 <= p <= length]))]
            for found, length in zip(places, nest.lengths, strict=True)
        ]
        if prod(map(len, cuts)) > _MOST_PARTS:
            return [*nests]
        for box in product(*cuts):
            parts.setdefault(box, _Part(box)).add(nest)
    return [part.nest() for part in parts.values()]


def _bounds(node: Within) -> list[tuple[int, int]]:
    """The loop that it depends on, and where its outcome changes, if it is one loop."""
    moving = [(loop, c) for loop, c in enumerate(node.at.coefficients) if c]
    if len(moving) != 1:
        return []
    ((loop, c),) = moving
    # the least i of c i + offset >= bound, or for falling indices of c i + offset < bound
    edges = [bound - node.at.offset for bound in (node.low, node.high)]
    return [(loop, -(-edge // c) if c > 0 else edge // c + 1) for edge in edges]


class _Part:
    """Nests over a box of their loops, as one."""

    def __init__(self, box: _Box) -> None:
        self._box = box
        self._nodes: list[Node] = []
        self._values: dict[tuple[type[Node], Node], Value] = {}
        self._roots: list[Root] = []
        self._kept = len(box)

    def nest(self) -> Nest:
        """All of them, with the nodes that are needed."""
        needed = {root.value for root in self._roots}
        for value in range(len(self._nodes) - 1, -1, -1):
            node = self._nodes[value]
            if value in needed and isinstance(node, Apply):
                needed.update(node.args)
        now = {value: number for number, value in enumerate(sorted(needed))}
        nodes = [_renumbered(self._nodes[value], now) for value in now]
        roots = [root._replace(value=now[root.value]) for root in self._roots]
        lengths = tuple([end - start for start, end in self._box])
        return Nest(lengths, self._kept, tuple(nodes), tuple(roots))

    def add(self, nest: Nest) -> None:
        """Bring in a nest."""
        #: The values of the nodes here, and those that are known to be true or false.
        now: dict[Value, Value] = {}
        known: dict[Value, bool] = {}
        for value, node in enumerate(nest.nodes):
            held = self._held(node, known)
            if held is not None:
                known[value] = held
            elif (same := _one_of(node, known)) is not None:
                now[value] = now[same]
            else:
                now[value] = self._node(self._moved(node, now, known))
        for root in nest.roots:
            self._roots.append(root._replace(at=self._at(root.at), value=now[root.value]))
            if isinstance(root, Reduce) and root.kind != "finite":
                self._kept = min(self._kept, nest.kept)

    def _held(self, node: Node, known: dict[Value, bool]) -> bool | None:
        """True if it is known to be true or false."""
        if isinstance(node, Within):
            ends = [
                sorted((c * start, c * (end - 1)))
                for c, (start, end) in zip(node.at.coefficients, self._box, strict=True)
            ]
            least, most = (node.at.offset + sum(each) for each in zip(*ends, strict=True))
            if node.low <= least and most < node.high:
                return True
            return False if most < node.low or least >= node.high else None
        if isinstance(node, Apply) and node.function in ("and", "or"):
            decides = node.function == "or"
            found = [known.get(arg) for arg in node.args]
            if decides in found:
                return decides
            return None if None in found else not decides
        return None

    def _moved(self, node: Node, now: dict[Value, Value], known: dict[Value, bool]) -> Node:
        """The node with its indices counted from where the box begins."""
        if isinstance(node, Load):
            if node.guard in known:
                if not known[node.guard]:
                    return Literal(0.0, node.char)
                return Load(node.buffer, self._at(node.at), None, node.char)
            return node._replace(at=self._at(node.at), guard=now.get(node.guard, node.guard))  # type: ignore[arg-type]
        if isinstance(node, Within):
            return node._replace(at=self._at(node.at))
        return _renumbered(node, now)

    def _at(self, index: Affine) -> Affine:
        moved = [c * start for c, (start, _) in zip(index.coefficients, self._box, strict=True)]
        return Affine(index.coefficients, index.offset + sum(moved))

    def _node(self, node: Node) -> Value:
        key = type(node), node
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = len(self._nodes)
            self._nodes.append(node)
        return found


def _one_of(node: Node, known: dict[Value, bool]) -> Value | None:
    """The operand that equals the node, where that is known."""
    if not isinstance(node, Apply):
        return None
    if node.function == "where" and node.args[0] in known:
        return node.args[1 if known[node.args[0]] else 2]
    if node.function in ("and", "or"):
        left = [arg for arg in node.args if arg not in known]
        return left[0] if len(left) == 1 else None
    return None


def _renumbered(node: Node, now: dict[Value, Value]) -> Node:
    if not isinstance(node, Apply):
        return node
    return node._replace(args=tuple([now[arg] for arg in node.args]))
