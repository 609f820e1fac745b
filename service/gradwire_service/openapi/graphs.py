"""The document of a program's graph."""

from __future__ import annotations

from typing import Literal

from gradwire_engine.dataflow.graph import VertexKind
from pydantic import Field

from gradwire_service.openapi.json_schema import Described
from gradwire_service.openapi.values import Digest


class _Placed(Described):
    """A place in the program's text, or a pointer into its graph."""

    line: int | None = None
    column: int | None = None
    pointer: str | None = None


class GraphNode(_Placed):
    """A value of the program."""

    id: str
    kind: VertexKind
    label: str = Field(description="The operation, the path of a variable, a constant's text.")
    name: str | None = Field(None, description="The name of the value in the program.")
    parameters: dict[str, str] = Field({}, description="Named arguments that are constants.")
    dtype: str | None = None
    shape: list[int] | None = None
    marks: list[Literal["target", "source"]] = Field(default_factory=list)
    group: str | None = Field(None, description="The innermost group around it.")


class GraphEdge(Described):
    """A value of one node that another reads, by position or by name."""

    tail: str = Field(alias="from")
    head: str = Field(alias="to")
    position: int | None = None
    name: str | None = None


class GraphGroup(_Placed):
    """A branch, a loop or a function. Edges enter at its inputs and leave at its results."""

    id: str
    label: str
    parent: str | None = Field(None, description="The group around it.")


class GraphDocument(Described):
    """The graph of a program."""

    program: Digest
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    groups: list[GraphGroup]
