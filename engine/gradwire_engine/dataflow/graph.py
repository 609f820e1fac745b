"""Vertices, edges between operations, and groups: the frames of control flow and of functions.

An edge stays within a group, or enters a group at one of its inputs or leaves it at one of its
results. So every group can be laid out by itself, and be a single box to what is around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from gradwire_engine.errors import OverBudget, Place
from gradwire_engine.tape import ArrayType

#: An ``input`` brings a value into a group, a ``result`` takes it out, a ``merge`` is the value of
#: one branch or another; a ``function`` is the result of the group that is a function's body.
VertexKind: TypeAlias = Literal[
    "variable", "constant", "operation", "input", "result", "merge", "function", "output"
]
#: The place of an operand in its operation: its position, or its name.
Role: TypeAlias = "int | str"


@dataclass(slots=True, eq=False)
class Vertex:
    """A value: what makes it, under which name it is stored, and its type where that is known.

    ``at`` is the number of the program's node, -1 where there is none. A variable's label is its
    path. Arguments that are written out (``axis=0``) are an operation's ``parameters``.
    """

    number: int
    kind: VertexKind
    label: str
    group: Group
    at: int = -1
    name: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    marks: list[str] = field(default_factory=list)
    type: ArrayType | None = None
    place: Place | None = None


class Edge(NamedTuple):
    """The value of vertex ``tail`` is an operand of ``head``."""

    tail: int
    head: int
    role: Role


@dataclass(slots=True, eq=False)
class Group:
    """A frame around vertices: the whole program, a branch, a loop, a function."""

    number: int
    label: str
    parent: Group | None
    place: Place | None = None
    #: The meaning of names here, where it is not that around it.
    names: dict[str, Any] = field(default_factory=dict)
    #: Those of them that are undefined around it afterwards: what a loop goes through.
    parameters: frozenset[str] = frozenset()
    is_function: bool = False
    #: The value of ``return`` in here.
    returned: list[Vertex] = field(default_factory=list)
    #: The inputs, by the numbers of the vertices around that they bring in.
    inputs: dict[int, Vertex] = field(default_factory=dict)

    def enclosing(self) -> Iterator[Group]:
        """The group, and those around it, from the inside out."""
        group: Group | None = self
        while group is not None:
            yield group
            group = group.parent


@dataclass(slots=True, eq=False)
class Graph:
    """Vertices and edges in the order of the program; the first group is all of it.

    It has at most so many vertices, and four times as many edges: one name may be read at the
    innermost of a hundred groups.
    """

    most: int
    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def group(self, label: str, parent: Group | None, place: Place | None = None) -> Group:
        """Open a group."""
        group = Group(len(self.groups), label, parent, place)
        self.groups.append(group)
        return group

    def vertex(
        self,
        kind: VertexKind,
        label: str,
        group: Group,
        operands: Sequence[tuple[Vertex, Role]] = (),
        at: int = -1,
    ) -> Vertex:
        """Append a vertex with edges from its operands, all of which are read in ``group``."""
        tails = [(self.brought(operand, group).number, role) for operand, role in operands]
        vertex = self._append(Vertex(len(self.vertices), kind, label, group, at))
        self.edges += [Edge(tail, vertex.number, role) for tail, role in tails]
        return vertex

    def _append(self, vertex: Vertex) -> Vertex:
        """Append a vertex.

        Raises: ``OverBudget`` where there are too many.
        """
        if len(self.vertices) >= self.most or len(self.edges) > 4 * self.most:
            message = f"the graph has more than {self.most} nodes, or {4 * self.most} edges"
            raise OverBudget(message)
        self.vertices.append(vertex)
        return vertex

    def connect(self, operand: Vertex, vertex: Vertex, role: Role) -> None:
        """Let a vertex read another, brought into its group, or to the input of one."""
        group = vertex.group
        if vertex.kind == "input" and group.parent is not None:
            group = group.parent
        tail = self.brought(operand, group).number
        self.edges.append(Edge(tail, vertex.number, role))

    def brought(self, vertex: Vertex, group: Group) -> Vertex:
        """The vertex that has the value of ``vertex`` in ``group``, an input made where needed."""
        groups = [*group.enclosing()]
        for inner in groups[: groups.index(readable_in(vertex))][::-1]:
            if vertex.number not in inner.inputs:
                label = vertex.name or vertex.label
                made = self._append(Vertex(len(self.vertices), "input", label, inner, vertex.at))
                self.edges.append(Edge(vertex.number, made.number, 0))
                inner.inputs[vertex.number] = made
            vertex = inner.inputs[vertex.number]
        return vertex


def readable_in(vertex: Vertex) -> Group:
    """The group in which, and in those within it, the value of ``vertex`` may be read."""
    group = vertex.group
    if vertex.kind in ("result", "function") and group.parent is not None:
        return group.parent
    return group
