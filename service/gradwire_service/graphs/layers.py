"""Layered layout of boxes and links (Sugiyama's method): links point down and cross no box.

A box's layer is the longest path to it. A link that passes a layer has a lane (a dummy node) there,
so it runs between boxes. A few sweeps order each layer by the barycentres of its neighbours; then
least squares place its boxes as near to these as the order allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Literal, NamedTuple

GAP = 22.0
LAYER_GAP = 38.0
_LANE_WIDTH = 12.0
#: Links that span more layers than these start at a reference to their tail.
_LONGEST = 12
_SWEEPS = 6
#: Weight of the present place of a box without neighbours.
_LEAST_WEIGHT = 0.05


@dataclass(slots=True, eq=False)
class Box:
    """A rectangle to be placed; rank ``first`` is the top layer, ``last`` the bottom one."""

    width: float
    height: float
    rank: Literal["first", "last"] | None = None
    layer: int = 0
    order: int = 0
    x: float = 0.0
    y: float = 0.0
    is_lane: bool = False
    #: Whether it depends on nothing, or on such boxes alone: it is placed just above its reader.
    is_light: bool = False
    #: Links from the layer above, and to the layer below.
    above: list[Link] = field(default_factory=list)
    below: list[Link] = field(default_factory=list)


class Link(NamedTuple):
    """A line from the bottom of one box to the top of another, at offsets from their left sides.

    The reference that a long link starts at has this size. Lanes divide a link into links between
    neighbouring layers.
    """

    tail: Box
    head: Box
    out: float
    into: float
    reference_size: tuple[float, float] = (0.0, 0.0)


#: Vertical pieces ``(x, top, bottom)``; curves join them.
Route = list[tuple[float, float, float]]


@dataclass(slots=True)
class Arrangement:
    """The size of the whole, and for each link its route and the reference it starts at, if any."""

    width: float
    height: float
    routes: list[Route]
    references: list[Box | None]


def arrange(boxes: Sequence[Box], links: Sequence[Link]) -> Arrangement:
    """Place all boxes, from (0, 0) on, and route all links."""
    _assign_layers(boxes, links)
    layers: list[list[Box]] = [[] for _ in range(1 + max((b.layer for b in boxes), default=0))]
    for box in boxes:
        _append(layers, box)
    chains, references = _add_lanes(layers, links)
    _reduce_crossings(layers)
    width = _assign_x(layers)
    tops, bottoms = _assign_y(layers)
    routes: list[Route] = []
    for link, chain in zip(links, chains, strict=True):
        tail, *lanes = chain
        out = link.out if tail is link.tail else tail.width / 2
        route = [(tail.x + out, tail.y + tail.height, bottoms[tail.layer])]
        route += [
            (lane.x + lane.width / 2, tops[lane.layer], bottoms[lane.layer]) for lane in lanes
        ]
        routes.append([*route, (link.head.x + link.into, tops[link.head.layer], link.head.y)])
    return Arrangement(width, bottoms[-1], routes, references)


def _assign_layers(boxes: Sequence[Box], links: Sequence[Link]) -> None:
    tails: dict[Box, list[Box]] = {box: [] for box in boxes}
    heads: dict[Box, list[Box]] = {box: [] for box in boxes}
    for link in links:
        heads[link.tail].append(link.head)
        tails[link.head].append(link.tail)
    ordered = [*TopologicalSorter(tails).static_order()]
    for box in ordered:
        box.layer = max((tail.layer + 1 for tail in tails[box]), default=0)
        box.is_light = (
            box.rank is None
            and len(tails[box]) <= len(heads[box])
            and all(tail.is_light for tail in tails[box])
        )
    for box in reversed(ordered):
        if box.is_light and heads[box]:
            box.layer = min(head.layer for head in heads[box]) - 1
    bottom = max((box.layer for box in boxes), default=0)
    for box in boxes:
        if box.rank == "last":
            box.layer = bottom


def _append(layers: list[list[Box]], box: Box) -> Box:
    box.order = len(layers[box.layer])
    layers[box.layer].append(box)
    return box


def _connect(link: Link) -> None:
    link.tail.below.append(link)
    link.head.above.append(link)


def _add_lanes(
    layers: list[list[Box]], links: Sequence[Link]
) -> tuple[list[list[Box]], list[Box | None]]:
    """Add the links' lanes, shared by links of the same origin, and their references.

    Returns each link's tail (or reference) and lanes, and its reference.
    """
    lanes: dict[tuple[Box, float, int], Box] = {}
    chains: list[list[Box]] = []
    references: list[Box | None] = []
    for link in links:
        tail, out, reference = link.tail, link.out, None
        if link.head.layer - tail.layer > _LONGEST:
            reference = Box(*link.reference_size, layer=link.head.layer - 1)
            tail, out = _append(layers, reference), reference.width / 2
        chain, leaving = [tail], out
        for layer in range(tail.layer + 1, link.head.layer):
            lane = lanes.get((tail, out, layer))
            if lane is None:
                lane = lanes[tail, out, layer] = Box(_LANE_WIDTH, 0.0, layer=layer, is_lane=True)
                _connect(Link(chain[-1], _append(layers, lane), leaving, _LANE_WIDTH / 2))
            chain.append(lane)
            leaving = _LANE_WIDTH / 2
        _connect(Link(chain[-1], link.head, leaving, link.into))
        chains.append(chain)
        references.append(reference)
    return chains, references


def _reduce_crossings(layers: Sequence[list[Box]]) -> None:
    """Order each layer by the barycentres of its neighbours above, then below, and again."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            means = {}
            for box in layer:
                if down:
                    ends = [s.tail.order + s.out / s.tail.width for s in box.above]
                else:
                    ends = [s.head.order + s.into / s.head.width for s in box.below]
                means[box] = sum(ends) / len(ends) if ends else box.order + 0.5
            layer.sort(key=means.__getitem__)
            for order, box in enumerate(layer):
                box.order = order


def _assign_x(layers: Sequence[Sequence[Box]]) -> float:
    """Place all boxes horizontally; returns the width of the whole."""
    for layer in layers:
        at = 0.0
        for box in layer:
            box.x = at
            at += box.width + GAP
    for sweep in range(_SWEEPS + 1):
        down, final = sweep % 2 == 0, sweep == _SWEEPS
        for layer in layers if down else reversed(layers):
            wanted: list[tuple[float, float]] = []
            for box in layer:
                pulls: list[tuple[float, float]] = []
                if down:
                    pulls += [(s.tail.x + s.out - s.into, _weight(s)) for s in box.above]
                if final or not down:
                    pulls += [(s.head.x + s.into - s.out, _weight(s)) for s in box.below]
                weight = sum(weight for _, weight in pulls)
                mean = sum(x * weight for x, weight in pulls) / weight if pulls else box.x
                wanted.append((mean, weight or _LEAST_WEIGHT))
            _separate(layer, wanted)
    boxes = [box for layer in layers for box in layer]
    left = min((box.x for box in boxes), default=0.0)
    for box in boxes:
        box.x -= left
    return max((box.x + box.width for box in boxes), default=0.0)


def _weight(link: Link) -> float:
    """The weight of a straight link: most between lanes, least below variables."""
    if link.tail.is_lane:
        return 4.0 if link.head.is_lane else 2.0
    return 0.2 if link.tail.is_light else 1.0


def _separate(layer: Sequence[Box], wanted: Sequence[tuple[float, float]]) -> None:
    """Move boxes to the wanted places and weights as near as their order and ``GAP`` allow.

    Isotonic regression by the pool-adjacent-violators algorithm.
    """
    pools: list[tuple[float, float, int]] = []
    used, offsets = 0.0, []
    for box, (place, weight) in zip(layer, wanted, strict=True):
        offsets.append(used)
        mean, total, count = place - used, weight, 1
        used += box.width + GAP
        while pools and pools[-1][0] >= mean:
            other, others, many = pools.pop()
            mean = (mean * total + other * others) / (total + others)
            total, count = total + others, count + many
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    for box, mean, offset in zip(layer, means, offsets, strict=True):
        box.x = mean + offset


def _assign_y(layers: Sequence[Sequence[Box]]) -> tuple[list[float], list[float]]:
    """Place all boxes in the middle of their layers; returns the layers' tops and bottoms."""
    tops, bottoms = [], []
    at = 0.0
    for layer in layers:
        height = max((box.height for box in layer), default=0.0)
        tops.append(at)
        bottoms.append(at + height)
        for box in layer:
            box.y = at + (height - box.height) / 2
        at += height + LAYER_GAP
    return tops, bottoms
