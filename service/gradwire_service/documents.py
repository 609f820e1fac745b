"""The documents on the wire as pydantic models: for the published schema, never on the way."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema
from typing_extensions import TypeAliasType

from gradwire_service import examples
from gradwire_service.problems import KINDS, MEDIA_TYPE

REF = "#/components/schemas/{model}"

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


class TensorReference(Leaf):
    """A tensor that was stored earlier."""

    ref: str


Value = TypeAliasType(
    "Value",
    "float | bool | str | list[Value] | Valued | ComplexNumbers | RawBytes | TensorReference"
    " | dict[str, Value]",
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

    ref: str


class ProgramName(Document):
    """A registered program by its name."""

    name: str


class EvaluateRequest(Document):
    """What ``/v1/evaluate`` takes."""

    program: str | Graph | ProgramDigest | ProgramName
    variables: dict[str, Value] | None = Field(None, description="Values, nested as you like.")
    outputs: Names = Field(None, description="Names whose values to return.")
    encoding: Literal["list", "base64"] | None = Field(None, description="How arrays come back.")
    promotion: Literal["numpy", "strict"] | None = Field(
        None, description="`strict` makes mixing dtypes an error."
    )
    timeout_ms: float | None = Field(None, gt=0, description="Time allowed, queueing included.")


class GradientRequest(EvaluateRequest):
    """What ``/v1/gradient`` takes."""

    target: Names = Field(None, description="What to differentiate; the sum where nested.")
    sources: Names = Field(None, description="With respect to what; all variables if left out.")
    output_gradients: Value | None = Field(
        None, description="Cotangents in the target's structure; null stands for ones."
    )
    unconnected_gradients: Literal["none", "zero"] | None = Field(
        None, description="What a gradient that does not exist is given as."
    )


class Place(BaseModel):
    """Where in the program."""

    id: str | None = None
    op: str | None = None
    line: int | None = None
    column: int | None = None


class Warned(BaseModel):
    """Something to know though the answer is right."""

    code: str
    detail: str
    node: Place | None = None


class Unconnected(BaseModel):
    """Why a gradient does not exist."""

    reason: str
    detail: str
    node: Place | None = None


class Response(BaseModel):
    """What every computation answers with."""

    program: str = Field(description="The program's id.", pattern="^sha256:")
    updates: dict[str, Value] | None = Field(None, description="Variables that were assigned.")
    warnings: list[Warned] | None = None
    nonfinite: dict[Literal["forward", "backward"], Place] | None = None


class EvaluateResponse(Response):
    """Values, in the structure of the names asked for."""

    outputs: Value | None


class GradientResponse(Response):
    """The target's value, and gradients in exactly the sources' structure."""

    value: Value | None
    gradients: Any = Field(description="Arrays, null where a gradient does not exist.")
    outputs: Value | None = None
    unconnected: dict[str, Unconnected] | None = None


class Problem(BaseModel):
    """Any refusal (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: Literal[tuple(KINDS)]  # type: ignore[valid-type]
    pointer: str | None = Field(None, description="A JSON pointer into the request.")
    node: Place | None = None
    hint: str | None = None
    missing: list[str] | None = None


def component_schemas() -> dict[str, Any]:
    """The schemas that the operations refer to, by name."""
    models = (EvaluateRequest, GradientRequest, EvaluateResponse, GradientResponse, Problem)
    _, schema = models_json_schema([(model, "validation") for model in models], ref_template=REF)
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals an operation may answer with, by status."""
    content = {MEDIA_TYPE: {"schema": {"$ref": REF.format(model="Problem")}}}
    return {
        status: {
            "description": ", ".join(code for code, kind in KINDS.items() if kind.status == status),
            "content": content,
        }
        for status in statuses
    }


def _operation(kind: str, summary: str, description: str) -> dict[str, Any]:
    model = kind.capitalize()
    return {
        "name": kind,
        "operation_id": kind,
        "summary": summary,
        "description": description,
        "tags": ["compute"],
        "responses": {
            200: {
                "description": "The answer.",
                "content": {
                    "application/json": {"schema": {"$ref": REF.format(model=f"{model}Response")}}
                },
            },
            **problems(400, 404, 406, 413, 415, 422, 500, 503, 504),
        },
        "openapi_extra": {
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": REF.format(model=f"{model}Request")},
                        "examples": examples.REQUESTS[kind],
                    }
                },
            }
        },
    }


OPERATIONS: dict[str, dict[str, Any]] = {
    "evaluate": _operation("evaluate", "Evaluate a program", "Run a program and return outputs."),
    "gradient": _operation(
        "gradient",
        "Differentiate a program",
        "Run a program and return its value and its gradients with respect to the sources, "
        "in exactly their structure.",
    ),
}
