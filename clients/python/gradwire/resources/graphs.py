"""The graph of a stored program, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from gradwire.documents import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode(Document):
    """A value of a program."""

    id: str
    #: ``variable``, ``constant``, ``operation``, ``output`` and the like.
    kind: str
    #: The operation, the path of a variable, a constant's text.
    label: str
    #: The name of the value in the program.
    name: str | None
    #: Named arguments that are constants.
    parameters: Mapping[str, str] = field(default_factory=dict)
    #: Known if the request gave the variables.
    dtype: str | None
    shape: tuple[int, ...] | None
    #: ``target``, ``source`` or both.
    marks: tuple[str, ...] = ()
    #: The id of the innermost group around it.
    group: str | None
    #: Its place in the program's text, or its pointer into the program's graph.
    line: int | None
    column: int | None
    pointer: str | None


@dataclass(frozen=True, slots=True)
class GraphEdge(Document):
    """A value of the node ``tail`` that the node ``head`` reads."""

    tail: str
    head: str
    #: The operand's position, or its name.
    position: int | None
    name: str | None

    @classmethod
    def read(cls, document: Mapping[str, Any], **given: Any) -> Self:
        """The edge of a reply."""
        ends = {"tail": document["from"], "head": document["to"]}
        return cls(**ends, position=document.get("position"), name=document.get("name"))


@dataclass(frozen=True, slots=True)
class GraphGroup(Document):
    """A branch, a loop or a function of a program."""

    id: str
    label: str
    #: The id of the group around it.
    parent: str | None
    #: Its place in the program's text, or its pointer into the program's graph.
    line: int | None
    column: int | None
    pointer: str | None


@dataclass(frozen=True, slots=True)
class Graph(Document):
    """The graph of a program: values, who reads them, and the groups that they are in."""

    #: The program's id.
    program: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    groups: tuple[GraphGroup, ...]
