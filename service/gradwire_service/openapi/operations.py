"""The operations of computations and tapes."""

from __future__ import annotations

from typing import Any, Literal

from gradwire_engine.answer import Kind
from gradwire_solvers import SolveKind
from pydantic import TypeAdapter
from starlette.responses import Response as StarletteResponse

from gradwire_service.openapi.graphs import GraphDocument
from gradwire_service.openapi.jobs import JobDocument, JobPage
from gradwire_service.openapi.json_schema import Forms
from gradwire_service.openapi.requests import (
    REQUESTS,
    TAPE_KINDS,
    TAPE_REQUESTS,
    ExplainRequest,
    TapeRequest,
)
from gradwire_service.openapi.resources import (
    ProgramDocument,
    ProgramPage,
    RegisterRequest,
    TenantsDocument,
    TensorDocument,
)
from gradwire_service.openapi.responses import (
    RESPONSES,
    ExplainResponse,
    Problem,
    TapeDocument,
    TapeResponse,
)
from gradwire_service.openapi.solving import SOLVE_REQUESTS, SOLVE_RESPONSES
from gradwire_service.openapi.values import Tensor
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.wire.codec import JSON, MESSAGEPACK

#: The media type of server-sent events.
STREAM = "text/event-stream"
REF = "#/components/schemas/{model}"


def component_schemas() -> dict[str, Any]:
    """The schemas that the operations refer to, by name."""
    parts: list[Any] = [*REQUESTS.values(), *RESPONSES.values(), Problem]
    parts += [TapeRequest, TapeResponse, TapeDocument, *TAPE_REQUESTS.values()]
    parts += [RegisterRequest, ProgramDocument, ProgramPage, Tensor, TensorDocument]
    parts += [GraphDocument, TenantsDocument, ExplainRequest, ExplainResponse]
    parts += [
        JobDocument,
        JobPage,
        *SOLVE_REQUESTS.values(),
        *dict.fromkeys(SOLVE_RESPONSES.values()),
    ]
    mode: Literal["validation"] = "validation"
    adapters = [(part.__name__, mode, TypeAdapter(part)) for part in parts]
    _, schema = TypeAdapter.json_schemas(adapters, ref_template=REF, schema_generator=Forms)
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of these statuses that are problems."""
    content = {MEDIA_TYPE: {"schema": {"$ref": REF.format(model="Problem")}}}
    return {
        status: {
            "description": ", ".join(code for code, kind in KINDS.items() if kind.status == status),
            "content": content,
        }
        for status in statuses
    }


def content(model: Any) -> dict[str, Any]:
    """A body that is a document of this model, in JSON or MessagePack."""
    schema = {"$ref": REF.format(model=model.__name__)}
    return {codec.media_types[0]: {"schema": schema} for codec in (JSON, MESSAGEPACK)}


def _operation(
    name: str, summary: str, description: str, request: Any, response: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "operation_id": name,
        "summary": summary,
        "description": description,
        "tags": ["compute"],
        "responses": {200: {"description": "The answer.", "content": content(response)}},
        "openapi_extra": {"requestBody": {"required": True, "content": content(request)}},
    }


def _computation(kind: Kind, summary: str, description: str) -> dict[str, Any]:
    return _operation(kind, summary, description, REQUESTS[kind], RESPONSES[kind])


OPERATIONS: dict[Kind, dict[str, Any]] = {
    "evaluate": _computation("evaluate", "Evaluate a program", "Run a program and return outputs."),
    "gradient": _computation(
        "gradient",
        "Differentiate a program",
        "Run a program and return its value and its gradients with respect to the sources, "
        "in exactly their structure.",
    ),
    "jacobian": _computation(
        "jacobian",
        "Jacobians",
        "Derivatives of each element of the target, which is one array, with respect to each "
        "element of the sources, in one replay, by rows or by columns.",
    ),
    "hessian": _computation(
        "hessian",
        "Hessian",
        "Second derivatives of the target (of the sum of its elements) with respect to each "
        "pair of sources, and its gradients.",
    ),
    "jvp": _computation(
        "jvp",
        "Derivative along tangents",
        "The product of the target's Jacobians with tangents, in forward mode.",
    ),
    "hvp": _computation(
        "hvp",
        "Derivative of the gradient along vectors",
        "The product of the Hessian with vectors, without the Hessian.",
    ),
    "check": _computation(
        "check",
        "Check a gradient",
        "The gradient beside central differences of the target, of fourth order.",
    ),
}


EXPLAIN_OPERATION = _operation(
    "explain",
    "Explain a query",
    "The instructions that answer it, with their costs, and the program as a graph: each node with "
    "its value and with the derivative of the target with respect to it.",
    ExplainRequest,
    ExplainResponse,
)


def _solving(kind: SolveKind, summary: str, description: str) -> dict[str, Any]:
    asked = SOLVE_REQUESTS[kind], SOLVE_RESPONSES[kind]
    operation = _operation(kind, summary, description + _JOBS, *asked)
    job = {"description": "The job, which goes on.", "content": content(JobDocument)}
    operation["responses"] |= {202: job, **problems(409)}
    return operation


#: What descriptions of optimisations end with.
_JOBS = (
    " If that takes long, or with `background`, the answer is a job; one `Idempotency-Key` gives "
    "one job, however often the request is sent."
)


SOLVE_OPERATIONS: dict[SolveKind, dict[str, Any]] = {
    "minimize": _solving(
        "minimize",
        "Minimise a program",
        "Vary the sources until the target is least, by one of SciPy's methods or a first-order "
        "one, with exact derivatives.",
    ),
    "least_squares": _solving(
        "least_squares",
        "Least squares",
        "Vary the sources until half the sum of the residuals' squares, or of a robust loss of "
        "them, is least.",
    ),
    "root": _solving(
        "root",
        "Solve equations",
        "Vary the sources until all elements of the target are zero.",
    ),
}


def resource_operation(
    name: str,
    summary: str,
    description: str,
    *refusals: int,
    status: int,
    request: Any = None,
    response: Any = None,
) -> dict[str, Any]:
    """An operation on a stored resource, with refusals beside those of ``error_responses``."""
    answer: dict[str, Any] = {"description": "The answer." if response else "It was removed."}
    if response is not None:
        answer["content"] = content(response)
    operation: dict[str, Any] = {
        "name": name,
        "operation_id": name,
        "summary": summary,
        "description": description,
        "status_code": status,
        "response_class": StarletteResponse,
        "responses": {status: answer, **problems(*refusals)},
    }
    if request is not None:
        body = {"required": True, "content": content(request)}
        operation["openapi_extra"] = {"requestBody": body}
    return operation


TAPE_OPERATIONS: dict[str, dict[str, Any]] = {
    "create": resource_operation(
        "record_tape",
        "Record a tape",
        "Run a program and store it with its values, for gradients of them.",
        status=201,
        request=TapeRequest,
        response=TapeResponse,
    ),
    **{
        kind: resource_operation(
            f"tape_{kind}",
            f"{OPERATIONS[kind]['summary']}, on a tape",
            f"As `/v1/{kind}`. A tape that is not persistent answers once.",
            409,
            status=200,
            request=TAPE_REQUESTS[kind],
            response=RESPONSES[kind],
        )
        for kind in TAPE_KINDS
    },
    "show": resource_operation(
        "show_tape",
        "Show a tape",
        "Its instructions, the watched variables, and the memory it takes.",
        409,
        status=200,
        response=TapeDocument,
    ),
    "remove": resource_operation(
        "remove_tape", "Remove a tape", "Its id is unknown from then on.", status=204
    ),
}
