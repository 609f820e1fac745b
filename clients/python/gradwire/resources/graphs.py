"""The graph of a stored program, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradwire.call import Reply


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A value of a program."""

    id: str
    #: ``variable``, ``constant``, ``operation``, ``output`` and the like.
    kind: str
    #: The operation, the path of a variable, a constant's text.
    label: str
    #: The name of the value in the program.
    name: str | None
    #: Named arguments that are constants.
    parameters: Mapping[str, str]
    #: Known if the request gave the variables.
    dtype: str | None
    shape: tuple[int, ...] | None
    #: ``target``, ``source`` or both.
    marks: tuple[str, ...]
    #: The id of the innermost group around it.
    group: str | None
    #: Its place in the program's text, or its pointer into the program's graph.
    line: int | None
    column: int | None
    pointer: str | None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> GraphNode:
        """The node of a reply."""
        shape = document.get("shape")
        return cls(
            id=document["id"],
            kind=document["kind"],
            label=document["label"],
            name=document.get("name"),
            parameters=document.get("parameters", {}),
            dtype=document.get("dtype"),
            shape=None if shape is None else tuple(shape),
            marks=tuple(document.get("marks", ())),
            group=document.get("group"),
            line=document.get("line"),
            column=document.get("column"),
            pointer=document.get("pointer"),
        )


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A value of the node ``tail`` that the node ``head`` reads."""

    tail: str
    head: str
    #: The operand's position, or its name.
    position: int | None
    name: str | None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> GraphEdge:
        """The edge of a reply."""
        return cls(document["from"], document["to"], document.get("position"), document.get("name"))


@dataclass(frozen=True, slots=True)
class GraphGroup:
    """A branch, a loop or a function of a program."""

    id: str
    label: str
    #: The id of the group around it.
    parent: str | None
    #: Its place in the program's text, or its pointer into the program's graph.
    line: int | None
    column: int | None
    pointer: str | None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> GraphGroup:
        """The group of a reply."""
        places = ("parent", "line", "column", "pointer")
        return cls(document["id"], document["label"], *(document.get(name) for name in places))


@dataclass(frozen=True, slots=True)
class Graph:
    """The graph of a program: values, who reads them, and the groups that they are in."""

    #: The program's id.
    program: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    groups: tuple[GraphGroup, ...]

    @classmethod
    def read(cls, reply: Reply) -> Graph:
        """The graph of a reply."""
        document = reply.document
        return cls(
            program=document["program"],
            nodes=tuple(map(GraphNode.read, document["nodes"])),
            edges=tuple(map(GraphEdge.read, document["edges"])),
            groups=tuple(map(GraphGroup.read, document["groups"])),
        )
