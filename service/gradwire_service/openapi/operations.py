"""The documentation of operations, of what they take and answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.wire.codec import JSON, MESSAGEPACK

#: The media type of server-sent events.
STREAM = "text/event-stream"
REF = "#/components/schemas/{model}"
#: The response with a resource that the client has.
UNCHANGED = {304: {"description": "Not modified: `If-None-Match` has its `ETag`."}}


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


def body(model: Any, **others: Any) -> dict[str, Any]:
    """The body of a request, in JSON, MessagePack, or ``others`` by their media types."""
    return {"required": True, "content": content(model) | others}


def already_stored(model: Any) -> dict[int, dict[str, Any]]:
    """The response to a request that would store what is there."""
    return {200: {"description": "It was stored already.", "content": content(model)}}


def query_parameter(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    """A parameter of the query."""
    return {"name": name, "in": "query", "schema": schema, "description": description}


#: The parameters of lists.
PAGE = [
    query_parameter("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, "At most."),
    query_parameter("after", {"type": "string"}, "The `after` of the page before."),
]


def path_parameters(path: str) -> list[dict[str, Any]]:
    """The parameters of a path."""
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "title": name.title()},
        }
        for name in re.findall(r"{(\w+)}", path)
    ]


def computation(
    name: str, summary: str, description: str, request: Any, response: Any
) -> dict[str, Any]:
    """An operation that computes, and stores nothing."""
    return {
        "name": name,
        "operation_id": name,
        "summary": summary,
        "description": description,
        "tags": ["compute"],
        "responses": {200: {"description": "The answer.", "content": content(response)}},
        "openapi_extra": {"requestBody": body(request)},
    }


def resource_operation(
    name: str,
    summary: str,
    description: str,
    *refusals: int,
    status: int = 200,
    response: Any = None,
    responses: Mapping[int, dict[str, Any]] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """An operation on a stored resource, with refusals beside those of ``error_responses``.

    ``responses`` are further ones by status, ``others`` further members of the operation.
    """
    answer: dict[str, Any] = {"description": "The answer." if response else "It was removed."}
    if response is not None:
        answer["content"] = content(response)
    operation: dict[str, Any] = {
        "name": name,
        "operation_id": name,
        "summary": summary,
        "description": description,
        "status_code": status,
        "response_class": Response,
        "responses": {status: answer, **problems(*refusals), **(responses or {})},
    }
    if others:
        operation["openapi_extra"] = others
    return operation
