"""The documents on the wire as pydantic models: for the published schema, never on the way."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from gradwire_engine.answer import Kind
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import models_json_schema
from starlette.responses import Response as StarletteResponse
from typing_extensions import TypeAliasType

from gradwire_service import examples
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.wire.envelope import RECORDED

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
    batch: list[str] | dict[str, int] | None = Field(
        None,
        description="Variables with an axis of examples, the first or the one given: everything "
        "is answered for each example, along a first axis.",
    )
    encoding: Literal["list", "base64"] | None = Field(None, description="How arrays come back.")
    promotion: Literal["numpy", "strict"] | None = Field(
        None, description="`strict` makes mixing dtypes an error."
    )
    timeout_ms: float | None = Field(None, gt=0, description="Time allowed, queueing included.")


class DerivativeRequest(EvaluateRequest):
    """What everything that differentiates takes."""

    target: Names = Field(None, description="What to differentiate; the sum where nested.")
    unconnected_gradients: Literal["none", "zero"] | None = Field(
        None, description="What a derivative that does not exist is given as."
    )


class SourcesRequest(DerivativeRequest):
    """What differentiates with respect to sources."""

    sources: Names = Field(None, description="With respect to what; all variables if left out.")


class GradientRequest(SourcesRequest):
    """What ``/v1/gradient`` takes."""

    output_gradients: Value | None = Field(
        None, description="Cotangents in the target's structure; null stands for ones."
    )


class CheckRequest(GradientRequest):
    """What ``/v1/check`` takes."""

    batch: None = Field(None, description="Not taken: a check is of one point.")
    step: float | None = Field(
        None, gt=0, description="How far elements are moved, times their size or one."
    )
    rtol: float | None = Field(
        None, gt=0, description="Difference allowed, of the largest in its source."
    )
    atol: float | None = Field(None, gt=0, description="Difference allowed beside.")


class MatrixRequest(SourcesRequest):
    """What answers with matrices."""

    format: Literal["dense", "coo"] | None = Field(
        None, description="Whole arrays, or indices and values of what may differ from zero."
    )


class JacobianRequest(MatrixRequest):
    """What ``/v1/jacobian`` takes; its target is one array."""

    mode: Literal["auto", "forward", "reverse"] | None = Field(
        None, description="By columns, by rows, or whichever are fewer."
    )


class HessianRequest(MatrixRequest):
    """What ``/v1/hessian`` takes."""


class JvpRequest(DerivativeRequest):
    """What ``/v1/jvp`` takes."""

    tangents: dict[str, Value] = Field(
        description="Directions by name, nested as the values of these names are."
    )


class HvpRequest(DerivativeRequest):
    """What ``/v1/hvp`` takes."""

    vectors: dict[str, Value] = Field(
        description="Directions by name, nested as the values of these names are."
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


class Range(BaseModel):
    """What an instruction was given."""

    shape: list[int]
    min: float | None = Field(description="The least finite element; of complex ones, the size.")
    max: float | None = Field(description="The greatest finite element, likewise.")
    nonfinite: int = Field(description="How many elements are NaN or infinite.")


class Nonfinite(Place):
    """The first place where values stopped being finite."""

    instruction: str = Field(description="What was computed there; backward, for the derivative.")
    operands: list[Range]
    hint: str | None = Field(None, description="A function that stays finite.")


class Response(BaseModel):
    """What every computation answers with."""

    program: str = Field(description="The program's id.", pattern="^sha256:")
    updates: dict[str, Value] | None = Field(None, description="Variables that were assigned.")
    warnings: list[Warned] | None = None
    nonfinite: dict[Literal["forward", "backward"], Nonfinite] | None = None


class EvaluateResponse(Response):
    """Values, in the structure of the names asked for."""

    outputs: Value | None


class DerivativeResponse(Response):
    """The target's value, and why derivatives do not exist."""

    value: Value | None
    outputs: Value | None = None
    unconnected: dict[str, Unconnected] | None = None


class GradientResponse(DerivativeResponse):
    """The target's value, and gradients in exactly the sources' structure."""

    gradients: Any = Field(description="Arrays, null where a gradient does not exist.")


class Check(BaseModel):
    """How a source's gradient compares with differences."""

    ok: bool
    error: float | Word = Field(description="The largest of an element.")
    at: list[int] | None = Field(
        description="That element; null where there are too many, and the error is that of the "
        "slope along a random direction."
    )


class CheckResponse(GradientResponse):
    """Gradients, differences, and how they compare."""

    differences: Any = Field(description="Arrays, null where the source has many elements.")
    checks: dict[str, Check] = Field(description="By the source's path.")
    ok: bool = Field(description="Whether all gradients are right.")


class JacobianResponse(DerivativeResponse):
    """The target's value and Jacobians in exactly the sources' structure."""

    jacobian: Any = Field(description="Arrays of the target's shape and the source's, or null.")


class HessianResponse(GradientResponse):
    """Gradients, and for each of them its Jacobians in the sources' structure again."""

    hessian: Any = Field(description="Arrays of the one source's shape and the other's, or null.")


class JvpResponse(DerivativeResponse):
    """The target's value and its derivative along the tangents, in its structure."""

    jvp: Any = Field(description="Arrays, null where no tangent reaches the target.")


class HvpResponse(GradientResponse):
    """Gradients and their derivatives along the vectors, both in the vectors' structure."""

    hvp: Any = Field(description="Arrays, null where a gradient does not exist.")


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


class TapeRequest(Document):
    """What ``POST /v1/tapes`` takes."""

    program: str | Graph | ProgramDigest | ProgramName
    variables: dict[str, Value] | None = Field(None, description="Values, nested as you like.")
    persistent: bool | None = Field(None, description="Whether it answers more than once.")
    watch: list[str] | None = Field(
        None, description="Variables and intermediates that are sources, too."
    )
    watch_accessed_variables: bool | None = Field(
        None, description="`false`: of the variables, only those in `watch` are sources."
    )
    encoding: Literal["list", "base64"] | None = Field(None, description="How arrays come back.")
    promotion: Literal["numpy", "strict"] | None = Field(
        None, description="`strict` makes mixing dtypes an error."
    )
    timeout_ms: float | None = Field(None, gt=0, description="Time allowed, queueing included.")


class TapeResponse(EvaluateResponse):
    """A tape that was made."""

    tape: str = Field(description="Its id; whoever has it may use it.")
    watched: list[str] = Field(description="Paths of the watched variables, as declared.")
    expires_at: datetime = Field(description="Each use moves this on.")


class Recorded(BaseModel):
    """One instruction of a tape."""

    slot: int
    op: str
    args: list[int] = Field(description="Slots of the operands.")
    type: str = Field(description="Dtype and shape of the result.")
    node: Place


class TapeDocument(BaseModel):
    """What a tape has recorded."""

    tape: str
    program: str
    persistent: bool
    watched: list[str]
    expires_at: datetime
    memory_bytes: int = Field(description="What the values of all instructions take.")
    length: int = Field(description="Number of all instructions.")
    instructions: list[Recorded] = Field(description="The first of them.")


REQUESTS: dict[Kind, type[Document]] = {
    "evaluate": EvaluateRequest,
    "gradient": GradientRequest,
    "jacobian": JacobianRequest,
    "hessian": HessianRequest,
    "jvp": JvpRequest,
    "hvp": HvpRequest,
    "check": CheckRequest,
}
RESPONSES: dict[Kind, type[Response]] = {
    "evaluate": EvaluateResponse,
    "gradient": GradientResponse,
    "jacobian": JacobianResponse,
    "hessian": HessianResponse,
    "jvp": JvpResponse,
    "hvp": HvpResponse,
    "check": CheckResponse,
}


#: What tapes are asked for.
TAPE_KINDS: tuple[Kind, ...] = ("gradient", "jacobian", "hessian")
TAPE_REQUESTS: dict[Kind, type[BaseModel]] = {
    kind: create_model(
        f"Tape{REQUESTS[kind].__name__}",
        __base__=Document,
        __doc__=f"What ``POST /v1/tapes/{{tape}}/{kind}`` takes.",
        **{
            name: (field.annotation, field)
            for name, field in REQUESTS[kind].model_fields.items()
            if name not in RECORDED
        },  # type: ignore[call-overload]
    )
    for kind in TAPE_KINDS
}


def component_schemas() -> dict[str, Any]:
    """The schemas that the operations refer to, by name."""
    models: list[type[BaseModel]] = [*REQUESTS.values(), *RESPONSES.values(), Problem]
    models += [TapeRequest, TapeResponse, TapeDocument, *TAPE_REQUESTS.values()]
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


def _operation(kind: Kind, summary: str, description: str) -> dict[str, Any]:
    request, response = (REF.format(model=of[kind].__name__) for of in (REQUESTS, RESPONSES))
    return {
        "name": kind,
        "operation_id": kind,
        "summary": summary,
        "description": description,
        "tags": ["compute"],
        "responses": {
            200: {
                "description": "The answer.",
                "content": {"application/json": {"schema": {"$ref": response}}},
            },
            **problems(400, 404, 406, 413, 415, 422, 500, 503, 504),
        },
        "openapi_extra": {
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": request},
                        "examples": examples.REQUESTS[kind],
                    }
                },
            }
        },
    }


OPERATIONS: dict[Kind, dict[str, Any]] = {
    "evaluate": _operation("evaluate", "Evaluate a program", "Run a program and return outputs."),
    "gradient": _operation(
        "gradient",
        "Differentiate a program",
        "Run a program and return its value and its gradients with respect to the sources, "
        "in exactly their structure.",
    ),
    "jacobian": _operation(
        "jacobian",
        "Jacobians",
        "Derivatives of each element of the target with respect to each of the sources', "
        "in one replay, by rows or by columns.",
    ),
    "hessian": _operation(
        "hessian",
        "Hessian",
        "Second derivatives of the target (of the sum of its elements) with respect to each "
        "pair of sources, and its gradients.",
    ),
    "jvp": _operation(
        "jvp",
        "Derivative along tangents",
        "The product of the target's Jacobians with tangents, in forward mode.",
    ),
    "hvp": _operation(
        "hvp",
        "Derivative of the gradient along vectors",
        "The product of the Hessian with vectors, without the Hessian.",
    ),
    "check": _operation(
        "check",
        "Check a gradient",
        "The gradient beside central differences of the target, of fourth order.",
    ),
}


def _tape_operation(
    name: str,
    summary: str,
    description: str,
    *refusals: int,
    status: int,
    request: type[BaseModel] | None = None,
    response: type[BaseModel] | None = None,
) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": "The answer." if response else "It is gone."}
    if response is not None:
        answer["content"] = _content(response)
    operation: dict[str, Any] = {
        "name": name,
        "operation_id": name,
        "summary": summary,
        "description": description,
        "status_code": status,
        "response_class": StarletteResponse,
        "responses": {status: answer, **problems(404, 406, 415, 500, 503, 504, *refusals)},
    }
    if request is not None:
        body = {"required": request is TapeRequest, "content": _content(request)}
        operation["openapi_extra"] = {"requestBody": body}
    return operation


def _content(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REF.format(model=model.__name__)}}}


TAPE_OPERATIONS: dict[str, dict[str, Any]] = {
    "create": _tape_operation(
        "record_tape",
        "Make a tape",
        "Run a program and keep it with its values, to be asked for gradients.",
        *(400, 413, 422),
        status=201,
        request=TapeRequest,
        response=TapeResponse,
    ),
    **{
        kind: _tape_operation(
            f"tape_{kind}",
            f"{OPERATIONS[kind]['summary']}, on a tape",
            f"As `/v1/{kind}`. A tape that is not persistent answers once.",
            *(400, 409, 413, 422),
            status=200,
            request=TAPE_REQUESTS[kind],
            response=RESPONSES[kind],
        )
        for kind in TAPE_KINDS
    },
    "show": _tape_operation(
        "show_tape",
        "What a tape has recorded",
        "Its instructions, the watched variables, and the memory it takes.",
        *(409, 413),
        status=200,
        response=TapeDocument,
    ),
    "remove": _tape_operation(
        "remove_tape", "Forget a tape", "Its id is unknown from then on.", status=204
    ),
}
