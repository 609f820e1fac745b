"""The operations of the published schema: graphs of programs."""

from __future__ import annotations

from typing import Any

from gradwire_service.documents.graphs import GraphDocument
from gradwire_service.documents.operations import content, resource_operation


def _parameter(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "array", "items": {"type": "string"}}
    return {"name": name, "in": "query", "schema": schema, "description": description}


_PARAMETERS = [
    _parameter("type", "The type of a variable, as `x:float64[10,3]`; may be repeated."),
    _parameter("target", "A name to mark as target."),
    _parameter("source", "A name to mark as source."),
]
_PICTURES = {"svg": "image/svg+xml", "dot": "text/vnd.graphviz"}


def _operation(form: str, summary: str, description: str) -> dict[str, Any]:
    operation = resource_operation(
        f"graph_{form}", summary, description, *(413, 422), status=200, response=GraphDocument
    )
    if form in _PICTURES:
        body = {_PICTURES[form]: {"schema": {"type": "string"}}}
    else:
        body = {"application/json": content(GraphDocument)["application/json"]}
    responses = {
        200: {"description": "The graph.", "content": body},
        304: {"description": "Not modified: `If-None-Match` has the current `ETag`."},
    }
    return operation | {
        "responses": operation["responses"] | responses,
        "openapi_extra": {"parameters": _PARAMETERS},
    }


PICTURE_OPERATIONS = {
    "svg": _operation("svg", "Draw a program", "Its graph as SVG, for light and dark pages."),
    "dot": _operation("dot", "Graph in DOT", "The graph of a program, for Graphviz."),
    "json": _operation(
        "json", "Graph in JSON", "The nodes, edges and groups of a program's graph."
    ),
}
