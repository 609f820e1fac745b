"""Layout of a graph: each group by itself, then as a single box in the group around it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from gradwire_engine.dataflow import Edge, Graph, Group, Vertex

from gradwire_service.graphs.labels import SMALL, Label, label_of, reference_to, text_width
from gradwire_service.graphs.layers import Arrangement, Box, Link, Route, arrange

#: Space within a frame, and for its title.
_PADDING, TITLE_HEIGHT = 16.0, 22.0
_RANKS = {"input": "first", "result": "last", "function": "last"}


class Placed(NamedTuple):
    """A vertex or a reference to it, by its top left corner."""

    vertex: Vertex
    label: Label
    x: float
    y: float


class Frame(NamedTuple):
    """A group's rectangle."""

    group: Group
    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Layout:
    """The size of the picture and everything in it."""

    width: float = 0.0
    height: float = 0.0
    boxes: list[Placed] = field(default_factory=list)
    references: list[Placed] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    lines: list[tuple[Edge, Route]] = field(default_factory=list)


def lay_out(graph: Graph) -> Layout:
    """Place all vertices and groups of a graph, and route its edges."""
    return _Builder(graph).layout()


class _Builder:
    """Arranges groups from the innermost outwards, then places them from the outermost inwards."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.labels = [label_of(vertex) for vertex in graph.vertices]
        self.boxes = [
            Box(label.width, label.height, _RANKS.get(vertex.kind))  # type: ignore[arg-type]
            for vertex, label in zip(graph.vertices, self.labels, strict=True)
        ]
        self.frames = [Box(0.0, 0.0) for _ in graph.groups]
        self.members: defaultdict[Group, list[Box]] = defaultdict(list)
        self.edges: defaultdict[Group, list[Edge]] = defaultdict(list)

    def layout(self) -> Layout:
        graph = self.graph
        for vertex, box in zip(graph.vertices, self.boxes, strict=True):
            self.members[vertex.group].append(box)
        for group in graph.groups[1:]:
            self.members[_parent(group)].append(self.frames[group.number])
        for edge in graph.edges:
            self.edges[self._level(edge)].append(edge)
        ends = self._ends()
        arrangements: dict[Group, Arrangement] = {}
        for group in reversed(graph.groups):  # inner groups come after those around them
            links = [self._link(edge, group, ends[edge]) for edge in self.edges[group]]
            arranged = arrangements[group] = arrange(self.members[group], links)
            frame = self.frames[group.number]
            title = text_width(group.label, SMALL) + 2 * _PADDING
            frame.width = max(arranged.width + 2 * _PADDING, title)
            frame.height = arranged.height + 2 * _PADDING + TITLE_HEIGHT
        return self._placed(arrangements)

    def _placed(self, arrangements: dict[Group, Arrangement]) -> Layout:
        """Turn positions within groups into positions in the picture."""
        made = Layout(self.frames[0].width, self.frames[0].height)
        for group in self.graph.groups:
            frame = self.frames[group.number]
            if group.number:
                made.frames.append(Frame(group, frame.x, frame.y, frame.width, frame.height))
            left, top = _inside(frame)
            for box in self.members[group]:
                box.x += left
                box.y += top
        for vertex, label, box in zip(self.graph.vertices, self.labels, self.boxes, strict=True):
            made.boxes.append(Placed(vertex, label, box.x, box.y))
        for group, arranged in arrangements.items():
            left, top = _inside(self.frames[group.number])
            routed = zip(self.edges[group], arranged.routes, arranged.references, strict=True)
            for edge, route, reference in routed:
                moved = [(x + left, start + top, end + top) for x, start, end in route]
                head, tail = self.boxes[edge.head], self.boxes[edge.tail]
                moved[-1] = (moved[-1][0], moved[-1][1], head.y)  # into a frame, to its input
                if reference is None:
                    moved[0] = (moved[0][0], tail.y + tail.height, moved[0][2])
                else:
                    vertex = self.graph.vertices[edge.tail]
                    place = reference.x + left, reference.y + top
                    made.references.append(Placed(vertex, reference_to(vertex), *place))
                made.lines.append((edge, moved))
        return made

    def _level(self, edge: Edge) -> Group:
        """The group in which an edge is drawn."""
        tail = self.graph.vertices[edge.tail]
        leaves = tail.kind in ("result", "function") and tail.group.parent is not None
        return _parent(tail.group) if leaves else tail.group

    def _link(self, edge: Edge, level: Group, into: float) -> Link:
        vertices, boxes = self.graph.vertices, self.boxes
        tail, out = boxes[edge.tail], boxes[edge.tail].width / 2
        head = boxes[edge.head]
        if vertices[edge.tail].group is not level:
            tail, out = self._framed(vertices[edge.tail], out)
        if vertices[edge.head].group is not level:
            head, into = self._framed(vertices[edge.head], into)
        label = reference_to(vertices[edge.tail])
        return Link(tail, head, out, into, (label.width, label.height))

    def _framed(self, vertex: Vertex, at: float) -> tuple[Box, float]:
        """The frame around a vertex, and the offset in it of an offset in the vertex's box."""
        offset = _PADDING + self.boxes[vertex.number].x + at
        return self.frames[vertex.group.number], offset

    def _ends(self) -> dict[Edge, float]:
        """The offset in its head's box at which each edge ends: in the order of operands."""
        entering: defaultdict[int, list[Edge]] = defaultdict(list)
        for edge in self.graph.edges:
            entering[edge.head].append(edge)
        return {
            edge: self.boxes[head].width * (i + 1) / (len(edges) + 1)
            for head, edges in entering.items()
            for i, edge in enumerate(edges)
        }


def _inside(frame: Box) -> tuple[float, float]:
    """Left and top of what is within a frame."""
    return frame.x + _PADDING, frame.y + _PADDING + TITLE_HEIGHT


def _parent(group: Group) -> Group:
    assert group.parent is not None
    return group.parent
