"""Values on the wire: variables, directions and tensors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from typing_extensions import TypeAliasType

from gradwire_service.documents.forms import any_of
from gradwire_service.wire.leaves import COMPLEX, MARKS
from gradwire_service.wire.numbers import MAX_DEPTH

_Dtype = Literal[
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
Dtype = TypeAliasType("Dtype", _Dtype)
ComplexDtype = Literal["complex64", "complex128"]
#: An integer in a document that FastAPI describes, of which others would else read 32 bits.
Whole = Annotated[int, Field(json_schema_extra={"format": "int64"})]
Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
Word = Literal["NaN", "Infinity", "-Infinity"]
Numbers = TypeAliasType(
    "Numbers",
    Annotated[
        "float | bool | Word | list[Numbers]",
        Field(
            description="A number, a boolean, `NaN`, `Infinity` or `-Infinity` as a string, or "
            "nested lists of these that form an array."
        ),
    ],
)
#: Null alone, which is a type in few languages.
_Null = Annotated[None, WithJsonSchema(any_of([{"type": "null"}]))]
_Bytes = Annotated[
    bytes, WithJsonSchema({"type": "string", "contentMediaType": "application/octet-stream"})
]
Shape = Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=MAX_DEPTH)]
#: Where a list takes integers, booleans are 0 and 1.
Index = Annotated[int, Field(ge=0)] | bool


def _level(of: str) -> Any:
    """A level of nesting: an object that is not a leaf."""
    return WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"$ref": f"#/components/schemas/{of}"},
            "propertyNames": {"not": {"enum": sorted(MARKS)}},
            "not": {"required": sorted(COMPLEX)},
        }
    )


class Document(BaseModel):
    """A document without further fields."""

    model_config = ConfigDict(extra="forbid")


class Leaf(Document):
    """The fields of all leaves."""

    trainable: bool = Field(
        True, description="`false`: not differentiated unless it is named in `sources`."
    )


class Changeable(Leaf):
    """A leaf whose shape assignments may change."""

    shape: _Null = Field(None, description="`null`, if assignments may change the shape.")


class Valued(Changeable):
    """Numbers with a dtype."""

    value: Numbers
    dtype: Dtype | None = None


class ComplexParts(Document):
    """Real and imaginary parts with the same shape."""

    re: Numbers
    im: Numbers


class ValuedComplex(Changeable):
    """Complex numbers with a dtype."""

    value: ComplexParts
    dtype: ComplexDtype | None = None


class ValuedText(Changeable):
    """A string; operations on numbers do not take it."""

    value: str
    dtype: _Null = Field(None, description="`null`, or left out.")


class ComplexNumbers(ComplexParts, Leaf):
    """Complex numbers: real and imaginary parts with the same shape."""

    dtype: ComplexDtype | None = None


class RawBytes(Leaf):
    """An array as little-endian bytes in C order, in base64."""

    dtype: Dtype
    shape: Shape
    base64: str = Field(json_schema_extra={"contentEncoding": "base64"})


class RawData(Leaf):
    """An array as little-endian bytes in C order, in MessagePack."""

    dtype: Dtype
    shape: Shape
    data: _Bytes


class TensorReference(Leaf):
    """A reference to a stored tensor."""

    ref: Digest


ArrayLeaf = TypeAliasType(
    "ArrayLeaf",
    Annotated[
        "Valued | ValuedComplex | ComplexNumbers | RawBytes | RawData | TensorReference",
        Field(description="An array with its dtype."),
    ],
)
IntegerArray = TypeAliasType(
    "IntegerArray",
    Annotated[
        "Valued | RawBytes | RawData | TensorReference",
        Field(description="An array of integers with its dtype."),
    ],
)


class ValuedArray(Changeable):
    """An array as bytes or by reference, whose shape assignments may change."""

    value: RawBytes | RawData | TensorReference


class SparseTensor(Leaf):
    """A sparse tensor: numbers or slices by their indices; those with equal indices add up."""

    indices: list[Annotated[list[Index], Field(min_length=1)]] | IntegerArray
    values: list[Numbers] | ArrayLeaf
    shape: Annotated[list[Index], Field(min_length=1, max_length=MAX_DEPTH)] | IntegerArray
    dtype: Dtype | None = None


class RaggedTensor(Leaf):
    """Rows of different lengths: row ``i`` has ``values[row_splits[i]:row_splits[i + 1]]``."""

    values: list[Numbers] | ArrayLeaf
    row_splits: Annotated[list[Index], Field(min_length=1)] | IntegerArray
    dtype: Dtype | None = None


Value = TypeAliasType(
    "Value",
    Annotated[
        "float | bool | str | list[Value] | ArrayLeaf | ValuedArray | ValuedText | SparseTensor"
        " | RaggedTensor | Annotated[dict[str, Value], _level('Value')]",
        Field(description="Numbers, nested lists of numbers, leaves; lists and objects of these."),
    ],
)
Direction = TypeAliasType(
    "Direction",
    Annotated[
        "float | bool | Word | list[Direction] | ArrayLeaf"
        " | Annotated[dict[str, Direction], _level('Direction')]",
        Field(description="A direction, in the structure of the value that it belongs to."),
    ],
)
Tensor = TypeAliasType(
    "Tensor",
    Annotated[
        "Numbers | Valued | ValuedComplex | ComplexNumbers | RawBytes | RawData",
        Field(description="One array: a number, nested lists of numbers, or a leaf."),
    ],
)
Cotangents = TypeAliasType(
    "Cotangents",
    Annotated[
        "Direction | list[Cotangents] | dict[str, Cotangents] | None",
        # Names may be those of leaves' fields, too.
        Field(description="In the structure of the target's names; null means ones."),
    ],
)
Answered = TypeAliasType(
    "Answered",
    Annotated[
        "Value | list[Answered] | dict[str, Answered] | None",
        Field(description="Values in the structure of the requested names, or null."),
    ],
)
