"""The graph of a program as a document."""

from __future__ import annotations

from typing import Literal

from gradwire_engine.dataflow.graph import VertexKind
from pydantic import BaseModel, Field

from gradwire_service.documents.values import Digest


class _Placed(BaseModel):
    """A part with its place in the program's text, or a pointer into its graph."""

    line: int | None = None
    column: int | None = None
    pointer: str | None = None


class GraphNode(_Placed):
    """A node with a value."""

    id: str
    kind: VertexKind
    label: str = Field(description="An operation, the path of a variable, or a constant.")
    name: str | None = Field(None, description="The name of the value in the program.")
    parameters: dict[str, str] = Field({}, description="Named arguments that are constants.")
    dtype: str | None = None
    shape: list[int] | None = None
    marks: list[Literal["target", "source"]] = []
    group: str | None = Field(None, description="The innermost group that contains it.")


class GraphEdge(BaseModel):
    """An edge from a value to the node that reads it, by position or by name."""

    tail: str = Field(alias="from")
    head: str = Field(alias="to")
    position: int | None = None
    name: str | None = None


class GraphGroup(_Placed):
    """A branch, a loop or a function. Edges enter at its inputs and leave at its results."""

    id: str
    label: str
    parent: str | None = Field(None, description="The group that contains it.")


class GraphDocument(BaseModel):
    """The graph of a program."""

    program: Digest
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    groups: list[GraphGroup]
