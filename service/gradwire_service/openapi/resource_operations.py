"""The operations on programs, their graphs, tensors and tenants."""

from __future__ import annotations

from typing import Any

from gradwire_service.openapi.graphs import GraphDocument
from gradwire_service.openapi.jobs import JobDocument, JobPage
from gradwire_service.openapi.operations import STREAM, content, resource_operation
from gradwire_service.openapi.resources import (
    ProgramDocument,
    ProgramPage,
    RegisterRequest,
    TenantsDocument,
    TensorDocument,
)
from gradwire_service.openapi.values import RawBytes, RawData, Tensor
from gradwire_service.wire import npy

_FILE = {npy.MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
#: A tensor in each encoding.
_FORMS = content(RawBytes) | {
    media_type: form for media_type, form in content(RawData).items() if "msgpack" in media_type
}
_FORMS |= _FILE
_KNOWN = {"description": "It was stored already."}
_UNCHANGED = {"description": "Not modified: `If-None-Match` has its `ETag`."}


def _query(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def _with(
    operation: dict[str, Any], responses: dict[int, dict[str, Any]], **extra: Any
) -> dict[str, Any]:
    """An operation with further responses, by status, and other members of its schema."""
    operation = operation | {"responses": operation["responses"] | responses}
    return operation | {"openapi_extra": extra} if extra else operation


_TEXT = {"schema": {"type": "string"}}
#: Each server-sent event. Generators of clients read all of them as text, whatever a schema says.
_EVENT = {"description": "With `id`, `event` (`progress` or `done`) and `data`, which is JSON."}
_PAGES = [
    _query("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, "At most."),
    _query("after", {"type": "string"}, "The `after` of the page before."),
]

PROGRAM_OPERATIONS: dict[str, dict[str, Any]] = {
    "register": _with(
        resource_operation(
            "register_program",
            "Register a program",
            "Store a program under its id, and under a name if one is given. A name that another "
            "program has is moved to this one.",
            status=201,
            request=RegisterRequest,
            response=ProgramDocument,
        ),
        {200: _KNOWN | {"content": content(ProgramDocument)}},
    ),
    "all": _with(
        resource_operation(
            "list_programs",
            "List this tenant's programs",
            "In pages, by their ids.",
            status=200,
            response=ProgramPage,
        ),
        {},
        parameters=_PAGES,
    ),
    "show": _with(
        resource_operation(
            "show_program",
            "Show a program",
            "By its id or name: its variables, outputs and text.",
            status=200,
            response=ProgramDocument,
        ),
        {304: _UNCHANGED},
    ),
    "remove": resource_operation(
        "remove_program", "Remove a program", "Its names are removed, too.", status=204
    ),
}

JOB_OPERATIONS: dict[str, dict[str, Any]] = {
    "all": _with(
        resource_operation(
            "list_jobs",
            "List this tenant's jobs",
            "In pages, by their ids, without results.",
            status=200,
            response=JobPage,
        ),
        {},
        parameters=_PAGES,
    ),
    "show": resource_operation(
        "show_job",
        "Show a job",
        "Its state and progress; its result, or its problem, once it has ended.",
        status=200,
        response=JobDocument,
    ),
    "events": _with(
        resource_operation(
            "follow_job",
            "Follow a job",
            "Server-sent events: `progress`, and in the end `done` with the job without its "
            "result. With `Last-Event-ID` only later ones; the latest 256 are stored.",
            status=200,
        ),
        {200: {"description": "The events.", "content": {STREAM: {"schema": _EVENT}}}},
        parameters=[
            {
                "name": "Last-Event-ID",
                "in": "header",
                "schema": {"type": "integer", "minimum": 0},
                "description": "The id of the last event that is known.",
            }
        ],
    ),
    "remove": resource_operation(
        "remove_job",
        "Cancel or remove a job",
        "One that runs or waits is cancelled, and can still be shown; one that has ended is "
        "removed with its result.",
        status=204,
    ),
}


def _names(name: str, description: str) -> dict[str, Any]:
    return _query(name, {"type": "array", "items": {"type": "string"}}, description)


_GRAPH_PARAMETERS = [
    _names("type", "The type of a variable, `x:float64[10,3]`; once for each."),
    _names("target", "A name to mark as target."),
    _names("source", "A name to mark as source."),
]


def _graph(form: str, summary: str, description: str, body: dict[str, Any]) -> dict[str, Any]:
    return _with(
        resource_operation(f"graph_{form}", summary, description, status=200),
        {200: {"description": "The graph.", "content": body}, 304: _UNCHANGED},
        parameters=_GRAPH_PARAMETERS,
    )


GRAPH_OPERATIONS = {
    "svg": _graph(
        "svg",
        "A program drawn",
        "Its graph as a picture, for light and dark.",
        {"image/svg+xml": _TEXT},
    ),
    "dot": _graph(
        "dot", "A program for Graphviz", "Its graph in DOT.", {"text/vnd.graphviz": _TEXT}
    ),
    "json": _graph(
        "json",
        "A program's graph",
        "Its nodes and edges.",
        {"application/json": content(GraphDocument)["application/json"]},
    ),
}


def _put(name: str, summary: str, description: str) -> dict[str, Any]:
    return _with(
        resource_operation(name, summary, description, status=201, response=TensorDocument),
        {200: _KNOWN | {"content": content(TensorDocument)}},
        requestBody={"required": True, "content": content(Tensor) | _FILE},
    )


TENSOR_OPERATIONS: dict[str, dict[str, Any]] = {
    "put": _put(
        "store_tensor",
        "Store a tensor",
        "Store an array under the digest of its contents.",
    ),
    "put_as": _put(
        "store_tensor_as",
        "Store a tensor with a known digest",
        "Refused if the tensor has another digest.",
    ),
    "show": _with(
        resource_operation(
            "show_tensor",
            "Show a tensor",
            "As a leaf with its bytes, or as an `.npy` file, as `Accept` says.",
            status=200,
        ),
        {
            200: {"description": "The tensor.", "content": _FORMS},
            304: _UNCHANGED,
        },
    ),
    "look": _with(
        resource_operation("look_for_tensor", "Check for a tensor", "Headers only.", status=200),
        {200: {"description": "It is stored."}, 304: _UNCHANGED},
    ),
    "remove": resource_operation(
        "remove_tensor", "Remove a tensor", "Its digest is unknown from then on.", status=204
    ),
}

TENANT_OPERATIONS: dict[str, dict[str, Any]] = {
    "all": resource_operation(
        "list_tenants",
        "List tenants",
        "Every tenant that has a key: its stored programs, tensors and tapes, and the requests of "
        "each of its keys to this process.",
        status=200,
        response=TenantsDocument,
    ),
}
