"""Values and programs on the wire: what variables may be, and how programs are written."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

Dtype = Literal[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
Word = Literal["NaN", "Infinity", "-Infinity"]
Numbers = TypeAliasType("Numbers", "float | bool | Word | list[Numbers]")
Names = TypeAliasType("Names", "str | list[Names] | dict[str, Names] | None")


class Document(BaseModel):
    """A document that has the fields below and no other."""

    model_config = ConfigDict(extra="forbid")


class Leaf(Document):
    """What every form of a leaf may carry."""

    trainable: bool = Field(True, description="Differentiated when no sources are named.")


class Valued(Leaf):
    """Numbers with a dtype."""

    value: Numbers | ComplexNumbers
    dtype: Dtype | None = None
    shape: None = Field(None, description="`null`, if assignments may change the shape.")


class ComplexNumbers(Leaf):
    """Complex numbers, real and imaginary parts of one shape."""

    re: Numbers
    im: Numbers
    dtype: Literal["complex64", "complex128"] | None = None


class RawBytes(Leaf):
    """The array's little-endian C-order bytes."""

    dtype: Dtype
    shape: list[Annotated[int, Field(ge=0)]]
    base64: str = Field(json_schema_extra={"contentEncoding": "base64"})


class SparseTensor(Leaf):
    """Numbers, or slices along the last axes, by their places; those of one place add up."""

    indices: list[list[Annotated[int, Field(ge=0)]]] | Valued | RawBytes
    values: list[Numbers] | Valued | ComplexNumbers | RawBytes
    shape: list[Annotated[int, Field(ge=0)]] | Valued | RawBytes
    dtype: Dtype | None = None


class RaggedTensor(Leaf):
    """Rows of any lengths: row ``i`` is of the values from ``row_splits[i]`` to the next."""

    values: list[Numbers] | Valued | ComplexNumbers | RawBytes
    row_splits: list[Annotated[int, Field(ge=0)]] | Valued | RawBytes
    dtype: Dtype | None = None


class TensorReference(Leaf):
    """A tensor that was stored earlier."""

    ref: Digest


Value = TypeAliasType(
    "Value",
    "float | bool | str | list[Value] | Valued | ComplexNumbers | RawBytes | SparseTensor"
    " | RaggedTensor | TensorReference | dict[str, Value]",
)


class Node(BaseModel):
    """One operation of a graph."""

    op: str
    id: str | None = None
    args: list[float | bool | str | Node] = []
    attrs: dict[str, Any] = {}


class Graph(BaseModel):
    """A program as a graph, its nodes in dependency order."""

    format: Literal["gradwire/1"] = "gradwire/1"
    nodes: list[Node]
    outputs: Names


class ProgramDigest(Document):
    """A registered program by its id."""

    ref: Digest


class ProgramName(Document):
    """A registered program by its name."""

    name: Name
