"""Programs in requests, and the names of their values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from gradwire_service.documents.values import Digest, Document

Name = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
Names = TypeAliasType(
    "Names",
    Annotated[
        "str | list[Names] | dict[str, Names]",
        Field(description="A name, or names nested in lists and objects."),
    ],
)
NamesOrNull = TypeAliasType(
    "NamesOrNull",
    Annotated[
        "str | list[NamesOrNull] | dict[str, NamesOrNull] | None",
        Field(description="A name, or names nested in lists and objects, some of them null."),
    ],
)

_Nonempty = Annotated[str, Field(min_length=1)]
Argument = TypeAliasType(
    "Argument",
    Annotated[
        "float | bool | _Nonempty | InlineNode | list[Argument] | None",
        Field(description="A constant, a name, an operation, or a list of these."),
    ],
)
Outputs = TypeAliasType(
    "Outputs",
    Annotated[
        "_Nonempty | list[Outputs] | dict[str, Outputs]",
        Field(description="A name, or names nested in lists and objects."),
    ],
)


class InlineNode(Document):
    """One operation of a graph, where its value is used."""

    id: str | None = Field(
        None, description="Only nodes of the graph have ids; here it has no meaning."
    )
    op: _Nonempty
    args: list[Argument] = Field(
        [], description="Constants, and names of variables or earlier nodes."
    )
    attrs: dict[str, Any] = Field({}, description="Keyword arguments of the operation.")


class Node(InlineNode):
    """One operation of a graph, under a name."""

    id: str = Field(pattern=r"^[^.\[\]]+$")


class Graph(Document):
    """A program as a graph, its nodes in dependency order."""

    format: Literal["gradwire/1"] = "gradwire/1"
    nodes: list[Node]
    outputs: Outputs


class ProgramDigest(Document):
    """A registered program by its id."""

    ref: Digest


class ProgramName(Document):
    """A registered program by its name."""

    name: Name


Program = TypeAliasType(
    "Program",
    Annotated[
        "str | Graph | ProgramDigest | ProgramName",
        Field(description="Source text, a graph, or a registered program by its id or name."),
    ],
)
