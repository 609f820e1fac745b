"""The routes of programs, tensors and tenants as the published schema describes them."""

from __future__ import annotations

from typing import Any

from gradwire_service.documents.operations import content, resource_operation
from gradwire_service.documents.resources import (
    ProgramDocument,
    ProgramPage,
    RegisterRequest,
    TensorDocument,
)
from gradwire_service.documents.tenants import TenantsDocument
from gradwire_service.documents.values import RawBytes, RawData, Tensor
from gradwire_service.wire import npy

_FILE = {npy.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
#: A tensor in each encoding.
_FORMS = content(RawBytes) | {
    media_type: form for media_type, form in content(RawData).items() if "msgpack" in media_type
}
_FORMS |= _FILE
_KNOWN = {"description": "It was known already."}
_UNCHANGED = {"description": "The client has it: `If-None-Match` bears its `ETag`."}


def _query(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _with(
    operation: dict[str, Any], responses: dict[int, dict[str, Any]], **extra: Any
) -> dict[str, Any]:
    """An operation with further responses, by status, and what else the schema has of it."""
    operation = operation | {"responses": operation["responses"] | responses}
    return operation | {"openapi_extra": extra} if extra else operation


PROGRAM_OPERATIONS: dict[str, dict[str, Any]] = {
    "register": _with(
        resource_operation(
            "register_program",
            "Register a program",
            "Keep a program, and refer to it by its id, or by a name, from now on. A name that "
            "another program has moves.",
            *(400, 413, 422),
            status=201,
            request=RegisterRequest,
            response=ProgramDocument,
        ),
        {200: _KNOWN | {"content": content(ProgramDocument)}},
    ),
    "all": _with(
        resource_operation(
            "list_programs",
            "The programs of this tenant",
            "In pages, by their ids.",
            422,
            status=200,
            response=ProgramPage,
        ),
        {},
        parameters=[
            _query("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, "At most."),
            _query("after", {"type": "string"}, "The `after` of the page before."),
        ],
    ),
    "show": _with(
        resource_operation(
            "show_program",
            "A program by its id or name",
            "What it reads and returns, and its text.",
            status=200,
            response=ProgramDocument,
        ),
        {304: _UNCHANGED},
    ),
    "remove": resource_operation(
        "remove_program", "Forget a program", "Its names are forgotten, too.", status=204
    ),
}


def _put(name: str, summary: str, description: str) -> dict[str, Any]:
    operation = resource_operation(
        name, summary, description, *(400, 413, 422), status=201, response=TensorDocument
    )
    sent = content(Tensor) | _FILE
    return _with(
        operation,
        {200: _KNOWN | {"content": content(TensorDocument)}},
        requestBody={"required": True, "content": sent},
    )


TENSOR_OPERATIONS: dict[str, dict[str, Any]] = {
    "put": _put(
        "store_tensor",
        "Store a tensor",
        "Keep an array, and refer to it by the digest of what it holds from now on.",
    ),
    "put_as": _put(
        "store_tensor_as",
        "Store a tensor of this digest",
        "As without a digest, and refused where the tensor has another one.",
    ),
    "show": _with(
        resource_operation(
            "show_tensor",
            "A tensor",
            "As a leaf with its bytes, or as an `.npy` file, as `Accept` says.",
            status=200,
        ),
        {
            200: {"description": "The tensor.", "content": _FORMS},
            304: _UNCHANGED,
        },
    ),
    "look": _with(
        resource_operation(
            "look_for_tensor", "Whether a tensor is held", "Its head alone.", status=200
        ),
        {200: {"description": "It is."}, 304: _UNCHANGED},
    ),
    "remove": resource_operation(
        "remove_tensor", "Forget a tensor", "Its digest is unknown from then on.", status=204
    ),
}

TENANT_OPERATIONS: dict[str, dict[str, Any]] = {
    "all": resource_operation(
        "list_tenants",
        "What tenants hold and do",
        "Of every tenant that has a key: how many programs, tensors and tapes it holds, and what "
        "each of its keys has asked of this process.",
        status=200,
        response=TenantsDocument,
    ),
}
