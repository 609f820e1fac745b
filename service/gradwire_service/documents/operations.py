"""The operations of the published schema: computations and tapes."""

from __future__ import annotations

from typing import Any, Literal

from gradwire_engine.answer import Kind
from pydantic import TypeAdapter
from starlette.responses import Response as StarletteResponse

from gradwire_service.documents.forms import Forms
from gradwire_service.documents.graphs import GraphDocument
from gradwire_service.documents.requests import REQUESTS, TAPE_KINDS, TAPE_REQUESTS, TapeRequest
from gradwire_service.documents.resources import (
    ProgramDocument,
    ProgramPage,
    RegisterRequest,
    TensorDocument,
)
from gradwire_service.documents.responses import RESPONSES, Problem, TapeDocument, TapeResponse
from gradwire_service.documents.tenants import TenantsDocument
from gradwire_service.documents.values import Tensor
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.wire.codec import JSON, MESSAGEPACK

REF = "#/components/schemas/{model}"


def component_schemas() -> dict[str, Any]:
    """The schemas that the operations refer to, by name."""
    parts: list[Any] = [*REQUESTS.values(), *RESPONSES.values(), Problem]
    parts += [TapeRequest, TapeResponse, TapeDocument, *TAPE_REQUESTS.values()]
    parts += [RegisterRequest, ProgramDocument, ProgramPage, Tensor, TensorDocument]
    parts += [GraphDocument, TenantsDocument]
    mode: Literal["validation"] = "validation"
    adapters = [(part.__name__, mode, TypeAdapter(part)) for part in parts]
    _, schema = TypeAdapter.json_schemas(adapters, ref_template=REF, schema_generator=Forms)
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that an operation may answer with, by status."""
    content = {MEDIA_TYPE: {"schema": {"$ref": REF.format(model="Problem")}}}
    return {
        status: {
            "description": ", ".join(code for code, kind in KINDS.items() if kind.status == status),
            "content": content,
        }
        for status in statuses
    }


def content(model: Any) -> dict[str, Any]:
    """A body of this model, in either encoding."""
    schema = {"$ref": REF.format(model=model.__name__)}
    return {codec.media_types[0]: {"schema": schema} for codec in (JSON, MESSAGEPACK)}


def _operation(kind: Kind, summary: str, description: str) -> dict[str, Any]:
    return {
        "name": kind,
        "operation_id": kind,
        "summary": summary,
        "description": description,
        "tags": ["compute"],
        "responses": {
            200: {
                "description": "The answer.",
                "content": content(RESPONSES[kind]),
            },
            **problems(400, 404, 406, 413, 415, 422, 500, 503, 504),
        },
        "openapi_extra": {"requestBody": {"required": True, "content": content(REQUESTS[kind])}},
    }


OPERATIONS: dict[Kind, dict[str, Any]] = {
    "evaluate": _operation("evaluate", "Evaluate a program", "Run a program, return outputs."),
    "gradient": _operation(
        "gradient",
        "Differentiate a program",
        "Run a program and return its value and its gradients with respect to the sources, "
        "in exactly their structure.",
    ),
    "jacobian": _operation(
        "jacobian",
        "Jacobians",
        "Derivatives of each element of the target with respect to each element of the sources, "
        "in one replay, by rows or by columns.",
    ),
    "hessian": _operation(
        "hessian",
        "Hessian",
        "Second derivatives of the target, or of the sum of its elements, with respect to each "
        "pair of sources, and its gradients.",
    ),
    "jvp": _operation(
        "jvp",
        "Jacobian-vector product",
        "The derivative of the target along tangents, in forward mode.",
    ),
    "hvp": _operation(
        "hvp",
        "Hessian-vector product",
        "The derivative of the gradient along vectors, without forming the Hessian.",
    ),
    "check": _operation(
        "check",
        "Check a gradient",
        "Compare the gradient with central differences of fourth order.",
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
    """One operation on a stored resource."""
    answer: dict[str, Any] = {"description": "The answer." if response else "Deleted."}
    if response is not None:
        answer["content"] = content(response)
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
        body = {"required": True, "content": content(request)}
        operation["openapi_extra"] = {"requestBody": body}
    return operation


TAPE_OPERATIONS: dict[str, dict[str, Any]] = {
    "create": resource_operation(
        "record_tape",
        "Create a tape",
        "Run a program and store it with its values, to compute derivatives later.",
        *(400, 413, 422),
        status=201,
        request=TapeRequest,
        response=TapeResponse,
    ),
    **{
        kind: resource_operation(
            f"tape_{kind}",
            f"{OPERATIONS[kind]['summary']} of a tape",
            f"Like `/v1/{kind}`, of a tape. A tape that is not persistent answers once.",
            *(400, 409, 413, 422),
            status=200,
            request=TAPE_REQUESTS[kind],
            response=RESPONSES[kind],
        )
        for kind in TAPE_KINDS
    },
    "show": resource_operation(
        "show_tape",
        "Show a tape",
        "Its instructions, its watched variables, and the memory of its values.",
        *(409, 413),
        status=200,
        response=TapeDocument,
    ),
    "remove": resource_operation(
        "remove_tape", "Delete a tape", "Afterwards its id is unknown.", status=204
    ),
}
