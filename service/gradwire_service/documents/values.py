"""Values on the wire: what variables, directions and tensors may be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from typing_extensions import TypeAliasType

from gradwire_service.wire.leaves import COMPLEX, MARKS
from gradwire_service.wire.numbers import MAX_DEPTH

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
ComplexDtype = Literal["complex64", "complex128"]
Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
Word = Literal["NaN", "Infinity", "-Infinity"]
Numbers = TypeAliasType("Numbers", "float | bool | Word | list[Numbers]")
Shape = Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=MAX_DEPTH)]
#: Where a list takes integers, booleans are 0 and 1.
Index = Annotated[int, Field(ge=0)] | bool


def _level(of: str) -> Any:
    """A nesting level, which is an object that is no leaf."""
    return WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"$ref": f"#/components/schemas/{of}"},
            "propertyNames": {"not": {"enum": sorted(MARKS)}},
            "not": {"required": sorted(COMPLEX)},
        }
    )


class Document(BaseModel):
    """A document that has the fields below and no other."""

    model_config = ConfigDict(extra="forbid")


class Leaf(Document):
    """What every form of a leaf may carry."""

    trainable: bool = Field(True, description="Differentiated when no sources are named.")


class Changeable(Leaf):
    """What assignments may change."""

    shape: None = Field(None, description="`null`, if assignments may change the shape.")


class Valued(Changeable):
    """Numbers with a dtype."""

    value: Numbers
    dtype: Dtype | None = None


class ComplexParts(Document):
    """Real and imaginary parts of one shape."""

    re: Numbers
    im: Numbers


class ValuedComplex(Changeable):
    """Complex numbers with a dtype."""

    value: ComplexParts
    dtype: ComplexDtype | None = None


class ValuedText(Changeable):
    """A text, which no operation takes."""

    value: str
    dtype: None = None


class ComplexNumbers(ComplexParts, Leaf):
    """Complex numbers, real and imaginary parts of one shape."""

    dtype: ComplexDtype | None = None


class RawBytes(Leaf):
    """The array's little-endian C-order bytes."""

    dtype: Dtype
    shape: Shape
    base64: str = Field(json_schema_extra={"contentEncoding": "base64"})


class RawData(Leaf):
    """The same in MessagePack, as they are."""

    dtype: Dtype
    shape: Shape
    data: bytes


class TensorReference(Leaf):
    """A tensor that was stored earlier."""

    ref: Digest


Array = TypeAliasType(
    "Array", "Valued | ValuedComplex | ComplexNumbers | RawBytes | RawData | TensorReference"
)
IntegerArray = TypeAliasType("IntegerArray", "Valued | RawBytes | RawData | TensorReference")


class ValuedArray(Changeable):
    """An array in one of the last three forms, whose shape assignments may change."""

    value: RawBytes | RawData | TensorReference


class SparseTensor(Leaf):
    """Numbers, or slices along the last axes, by their places; those of one place add up."""

    indices: list[Annotated[list[Index], Field(min_length=1)]] | IntegerArray
    values: list[Numbers] | Array
    shape: Annotated[list[Index], Field(min_length=1, max_length=MAX_DEPTH)] | IntegerArray
    dtype: Dtype | None = None


class RaggedTensor(Leaf):
    """Rows of any lengths: row ``i`` is of the values from ``row_splits[i]`` to the next."""

    values: list[Numbers] | Array
    row_splits: Annotated[list[Index], Field(min_length=1)] | IntegerArray
    dtype: Dtype | None = None


Value = TypeAliasType(
    "Value",
    "float | bool | str | list[Value] | Array | ValuedArray | ValuedText | SparseTensor"
    " | RaggedTensor"
    " | Annotated[dict[str, Value], _level('Value')]",
)
Direction = TypeAliasType(
    "Direction",
    "float | bool | Word | list[Direction] | Array"
    " | Annotated[dict[str, Direction], _level('Direction')]",
)
Tensor = TypeAliasType(
    "Tensor", "Numbers | Valued | ValuedComplex | ComplexNumbers | RawBytes | RawData"
)
#: Nested as names are, which may be the names of leaves' fields, too.
Cotangents = TypeAliasType(
    "Cotangents", "Direction | list[Cotangents] | dict[str, Cotangents] | None"
)
Answered = TypeAliasType("Answered", "Value | list[Answered] | dict[str, Answered] | None")
