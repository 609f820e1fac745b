"""The operations of the published schema: programs, tensors and tenants."""

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
_KNOWN = {"description": "It was stored already."}
_UNCHANGED = {"description": "Not modified: `If-None-Match` has the current `ETag`."}


def _query(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _with(
    operation: dict[str, Any], responses: dict[int, dict[str, Any]], **extra: Any
) -> dict[str, Any]:
    """An operation with further responses, by status, and further members of its schema."""
    operation = operation | {"responses": operation["responses"] | responses}
    return operation | {"openapi_extra": extra} if extra else operation


PROGRAM_OPERATIONS: dict[str, dict[str, Any]] = {
    "register": _with(
        resource_operation(
            "register_program",
            "Register a program",
            "Store a program. Requests then refer to it by its id, or by a name. A name that "
            "another program has moves to this one.",
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
            "List programs",
            "The programs of this tenant, in pages, in the order of their ids.",
            422,
            status=200,
            response=ProgramPage,
        ),
        {},
        parameters=[
            _query(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": 1000},
                "The number of programs in a page, at most.",
            ),
            _query("after", {"type": "string"}, "The `after` of the previous page."),
        ],
    ),
    "show": _with(
        resource_operation(
            "show_program",
            "Show a program",
            "A program by its id or name: the names that it reads and returns, and its text.",
            status=200,
            response=ProgramDocument,
        ),
        {304: _UNCHANGED},
    ),
    "remove": resource_operation(
        "remove_program", "Delete a program", "Its names are deleted, too.", status=204
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
        "Store an array. Requests then refer to it by the digest of its contents.",
    ),
    "put_as": _put(
        "store_tensor_as",
        "Store a tensor with this digest",
        "An array with another digest is refused.",
    ),
    "show": _with(
        resource_operation(
            "show_tensor",
            "Show a tensor",
            "As a leaf with its bytes, or as an `.npy` file, depending on `Accept`.",
            status=200,
        ),
        {
            200: {"description": "The tensor.", "content": _FORMS},
            304: _UNCHANGED,
        },
    ),
    "look": _with(
        resource_operation("look_for_tensor", "Look for a tensor", "The headers only.", status=200),
        {200: {"description": "The tensor is stored."}, 304: _UNCHANGED},
    ),
    "remove": resource_operation(
        "remove_tensor", "Delete a tensor", "Afterwards its digest is unknown.", status=204
    ),
}

TENANT_OPERATIONS: dict[str, dict[str, Any]] = {
    "all": resource_operation(
        "list_tenants",
        "List tenants",
        "For every tenant with a key: how many programs, tensors and tapes it stores, and how many "
        "requests of each of its keys this process has answered.",
        status=200,
        response=TenantsDocument,
    ),
}
