"""Boxes and links between them, arranged in layers: all links lead down, and cross no box.

Layers are those of longest paths. What passes a layer has a place in it, so that it passes between
boxes; a few sweeps order each layer by the means of its neighbours (Sugiyama's method), and places
are the nearest to these means that keep the order, by least squares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

GAP = 22.0
LAYER_GAP = 38.0
#: Breadth that a passing link has to itself.
_LANE = 12.0
#: Links over more layers than these start at a reference to where they come from.
_LONGEST = 12
_SWEEPS = 6
#: How much a box that nothing is led to stays where it is.
_LEAST_PULL = 0.05


@dataclass(slots=True, eq=False)
class Box:
    """A rectangle to be placed; the ``first`` are in the top layer, the ``last`` at the bottom."""

    width: float
    height: float
    rank: Literal["first", "last"] | None = None
    layer: int = 0
    order: int = 0
    x: float = 0.0
    y: float = 0.0
    is_lane: bool = False
    #: Whether it is made of what nothing leads to, so may stand anywhere above what it leads to.
    is_light: bool = False


class Link(NamedTuple):
    """A line from one box's bottom to another's top, at distances from their left sides.

    ``breadth`` and ``height`` are those of a reference, if the line is too long to be followed.
    """

    tail: Box
    head: Box
    out: float
    into: float
    breadth: float
    height: float


#: Vertical pieces, each a distance from the left and where it begins and ends; curves join them.
Route = list[tuple[float, float, float]]


@dataclass(slots=True)
class Arrangement:
    """Breadth and height, and for each link its route and the reference where it starts, if any."""

    width: float
    height: float
    routes: list[Route]
    references: list[Box | None]


class _Step(NamedTuple):
    """A piece of a link between neighbouring layers."""

    tail: Box
    head: Box
    out: float
    into: float


@dataclass(slots=True)
class _Layers:
    """Boxes and lanes by layer, and the steps into and out of each."""

    layers: list[list[Box]]
    above: defaultdict[Box, list[_Step]] = field(default_factory=lambda: defaultdict(list))
    below: defaultdict[Box, list[_Step]] = field(default_factory=lambda: defaultdict(list))

    def add(self, box: Box) -> Box:
        """Place a box at the end of its layer."""
        box.order = len(self.layers[box.layer])
        self.layers[box.layer].append(box)
        return box

    def join(self, step: _Step) -> None:
        """Enter a step at both of its ends."""
        self.below[step.tail].append(step)
        self.above[step.head].append(step)


def arrange(boxes: Sequence[Box], links: Sequence[Link]) -> Arrangement:
    """Place all boxes, their top left corners from (0, 0) on."""
    _choose_layers(boxes, links)
    drawn = _Layers([[] for _ in range(1 + max((box.layer for box in boxes), default=0))])
    for box in boxes:
        drawn.add(box)
    chains, references = _lead(drawn, links)
    _order(drawn)
    width = _place(drawn)
    tops, bottoms = _stack(drawn.layers)
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


def _choose_layers(boxes: Sequence[Box], links: Sequence[Link]) -> None:
    """Put each box below all that lead to it, and light ones just above what they lead to."""
    before: dict[Box, list[Box]] = {box: [] for box in boxes}
    after: dict[Box, list[Box]] = {box: [] for box in boxes}
    for link in links:
        after[link.tail].append(link.head)
        before[link.head].append(link.tail)
    waits = {box: len(before[box]) for box in boxes}
    ready = [box for box in boxes if not waits[box]]
    sorted_boxes: list[Box] = []
    while ready:
        box = ready.pop()
        sorted_boxes.append(box)
        box.is_light = (
            box.rank is None
            and len(before[box]) <= len(after[box])
            and all(tail.is_light for tail in before[box])
        )
        for head in after[box]:
            head.layer = max(head.layer, box.layer + 1)
            waits[head] -= 1
            if not waits[head]:
                ready.append(head)
    for box in reversed(sorted_boxes):
        if box.is_light and after[box]:
            box.layer = min(head.layer for head in after[box]) - 1
    last = max((box.layer for box in boxes), default=0)
    for box in boxes:
        if box.rank == "last":
            box.layer = last


def _lead(drawn: _Layers, links: Sequence[Link]) -> tuple[list[list[Box]], list[Box | None]]:
    """Give links lanes through the layers between; those of one origin share them.

    Gives what each link leads through, from its tail or a reference to it, and the references.
    """
    known: dict[tuple[Box, float, int], Box] = {}
    chains: list[list[Box]] = []
    references: list[Box | None] = []
    for link in links:
        tail, head, out = link.tail, link.head, link.out
        reference = None
        if head.layer - tail.layer > _LONGEST:
            reference = Box(link.breadth, link.height, layer=head.layer - 1)
            tail, out = drawn.add(reference), link.breadth / 2
        chain = [tail]
        for layer in range(tail.layer + 1, head.layer):
            at = (tail, out, layer)
            if at not in known:
                known[at] = drawn.add(Box(_LANE, 0.0, layer=layer, is_lane=True))
                before = chain[-1]
                start = out if before is tail else _LANE / 2
                drawn.join(_Step(before, known[at], start, _LANE / 2))
            chain.append(known[at])
        drawn.join(_Step(chain[-1], head, out if len(chain) == 1 else _LANE / 2, link.into))
        chains.append(chain)
        references.append(reference)
    return chains, references


def _order(drawn: _Layers) -> None:
    """Order each layer by the means of its neighbours above, then below, and again."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in drawn.layers if down else reversed(drawn.layers):
            means = {}
            for box in layer:
                if down:
                    ends = [s.tail.order + s.out / s.tail.width for s in drawn.above[box]]
                else:
                    ends = [s.head.order + s.into / s.head.width for s in drawn.below[box]]
                means[box] = sum(ends) / len(ends) if ends else box.order + 0.5
            layer.sort(key=means.__getitem__)
            for order, box in enumerate(layer):
                box.order = order


def _place(drawn: _Layers) -> float:
    """Choose distances from the left; gives the breadth of all."""
    for layer in drawn.layers:
        at = 0.0
        for box in layer:
            box.x = at
            at += box.width + GAP
    for sweep in range(_SWEEPS + 1):
        above, below = sweep % 2 == 0 or sweep == _SWEEPS, sweep % 2 == 1 or sweep == _SWEEPS
        for layer in drawn.layers if sweep % 2 == 0 else reversed(drawn.layers):
            wanted: list[tuple[float, float]] = []
            for box in layer:
                steps = [(s.tail.x + s.out - s.into, _pull(s)) for s in drawn.above[box] if above]
                steps += [(s.head.x + s.into - s.out, _pull(s)) for s in drawn.below[box] if below]
                pull = sum(weight for _, weight in steps)
                mean = sum(x * weight for x, weight in steps) / pull if steps else box.x
                wanted.append((mean, pull or _LEAST_PULL))
            _settle(layer, wanted)
    boxes = [box for layer in drawn.layers for box in layer]
    left = min((box.x for box in boxes), default=0.0)
    for box in boxes:
        box.x -= left
    return max((box.x + box.width for box in boxes), default=0.0)


def _pull(step: _Step) -> float:
    """How much it matters that a step is straight: much in lanes, little for variables."""
    if step.tail.is_lane:
        return 4.0 if step.head.is_lane else 2.0
    return 0.2 if step.tail.is_light else 1.0


def _settle(layer: Sequence[Box], wanted: Sequence[tuple[float, float]]) -> None:
    """Places nearest to those wanted, by weight, in order and apart (pool adjacent violators)."""
    pools: list[tuple[float, float, int]] = []
    taken, offsets = 0.0, []
    for box, (place, weight) in zip(layer, wanted, strict=True):
        offsets.append(taken)
        mean, sum_of_weights, count = place - taken, weight, 1
        taken += box.width + GAP
        while pools and pools[-1][0] >= mean:
            other, others, many = pools.pop()
            mean = (mean * sum_of_weights + other * others) / (sum_of_weights + others)
            sum_of_weights, count = sum_of_weights + others, count + many
        pools.append((mean, sum_of_weights, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    for box, mean, offset in zip(layer, means, offsets, strict=True):
        box.x = mean + offset


def _stack(layers: Sequence[Sequence[Box]]) -> tuple[list[float], list[float]]:
    """Where each layer begins and ends, its boxes placed in the middle of its height."""
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
