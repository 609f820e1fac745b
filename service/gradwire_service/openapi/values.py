"""Values: variables, directions and tensors."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema
from typing_extensions import TypeAliasType

from gradwire_service.openapi.json_schema import Described, any_of
from gradwire_service.wire.arrays_in import MAX_DEPTH
from gradwire_service.wire.leaves import COMPLEX, MARKS

Dtype = TypeAliasType(
    "Dtype",
    Literal[
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
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ],
)
ComplexDtype = Literal["complex64", "complex128"]
#: An integer with a format, for schemas that FastAPI makes; else some generators read 32 bits.
Whole = Annotated[int, Field(json_schema_extra={"format": "int64"})]
Real = Annotated[float, Field(json_schema_extra={"format": "double"})]
Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
ResultId = Annotated[str, Field(pattern="^result:[A-Za-z0-9_-]{32}$")]
Word = Literal["NaN", "Infinity", "-Infinity"]
Numbers = TypeAliasType(
    "Numbers",
    Annotated[
        "float | bool | Word | list[Numbers]",
        Field(
            description="A number, a boolean, `NaN`, `Infinity` or `-Infinity` as a text, or lists "
            "of these, all of one shape."
        ),
    ],
)
#: Null alone, which few languages have as a type.
_Null = Annotated[None, WithJsonSchema(any_of([{"type": "null"}]))]
_Bytes = Annotated[
    bytes, WithJsonSchema({"type": "string", "contentMediaType": "application/octet-stream"})
]
Shape = Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=MAX_DEPTH)]
#: In lists of integers, booleans are 0 and 1.
Index = Annotated[int, Field(ge=0)] | bool


def _level(of: str) -> Any:
    """An object that is not a leaf."""
    return WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"$ref": f"#/components/schemas/{of}"},
            "propertyNames": {"not": {"enum": sorted(MARKS)}},
            "not": {"required": sorted(COMPLEX)},
        }
    )


class Document(Described):
    """A document without other fields."""

    model_config = ConfigDict(extra="forbid")


class Leaf(Document):
    """Fields of every leaf."""

    trainable: bool = Field(
        True, description="Differentiated when no sources are named, unless this is `false`."
    )


class Changeable(Leaf):
    """A leaf whose variable may be assigned."""

    shape: _Null = Field(None, description="`null`, if assignments may change the shape.")


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
    """A text; no operation takes it."""

    value: str
    dtype: _Null = Field(None, description="`null` or left out.")


class ComplexNumbers(ComplexParts, Leaf):
    """Complex numbers, real and imaginary parts of one shape."""

    dtype: ComplexDtype | None = None


class RawBytes(Leaf):
    """The array's little-endian C-order bytes."""

    dtype: Dtype
    shape: Shape
    base64: str = Field(json_schema_extra={"contentEncoding": "base64"})


class RawData(Leaf):
    """The same bytes, in MessagePack."""

    dtype: Dtype
    shape: Shape
    data: _Bytes


class TensorReference(Leaf):
    """A tensor that was stored earlier, or a result that stayed with the service."""

    ref: Digest | ResultId


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
    """An array in one of the last three forms, whose shape assignments may change."""

    value: RawBytes | RawData | TensorReference


class SparseTensor(Leaf):
    """Numbers, or slices along the last axes, by their places; those of one place add up."""

    indices: list[Annotated[list[Index], Field(min_length=1)]] | IntegerArray
    values: list[Numbers] | ArrayLeaf
    shape: Annotated[list[Index], Field(min_length=1, max_length=MAX_DEPTH)] | IntegerArray
    dtype: Dtype | None = None


class RaggedTensor(Leaf):
    """Rows of any lengths: row ``i`` is of the values from ``row_splits[i]`` to the next."""

    values: list[Numbers] | ArrayLeaf
    row_splits: Annotated[list[Index], Field(min_length=1)] | IntegerArray
    dtype: Dtype | None = None


Value = TypeAliasType(
    "Value",
    Annotated[
        "float | bool | str | list[Value] | ArrayLeaf | ValuedArray | ValuedText | SparseTensor"
        " | RaggedTensor | Annotated[dict[str, Value], _level('Value')]",
        Field(
            description="Numbers, lists of them, leaves with dtypes; lists and objects of these."
        ),
    ],
)
Direction = TypeAliasType(
    "Direction",
    Annotated[
        "float | bool | Word | list[Direction] | ArrayLeaf | ValuedArray"
        " | Annotated[dict[str, Direction], _level('Direction')]",
        Field(description="Nested like the value that it is a direction of."),
    ],
)
Tensor = TypeAliasType(
    "Tensor",
    Annotated[
        "Numbers | Valued | ValuedComplex | ComplexNumbers | RawBytes | RawData",
        Field(description="One array: numbers, lists of them, or a leaf with its dtype."),
    ],
)
Cotangents = TypeAliasType(
    "Cotangents",
    Annotated[
        "Direction | list[Cotangents] | dict[str, Cotangents] | None",
        # Names may be those of leaves' fields, too.
        Field(description="Nested like the names of the target; null stands for ones."),
    ],
)


class Result(Described):
    """An array of an answer that stays with the service."""

    ref: ResultId
    dtype: Dtype
    shape: list[int]
    nbytes: int
    expires_at: datetime = Field(description="Extended by each use.")


Answered = TypeAliasType(
    "Answered",
    Annotated[
        "Value | Result | list[Answered] | dict[str, Answered] | None",
        Field(description="Values nested like the requested names, null for none."),
    ],
)
