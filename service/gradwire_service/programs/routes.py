"""``/v1/programs``: stored programs, which requests refer to, and their graphs."""

from __future__ import annotations

from typing import Any

from gradwire_service.openapi.graphs import GraphDocument
from gradwire_service.openapi.operations import (
    PAGE,
    UNCHANGED,
    already_stored,
    body,
    content,
    query_parameter,
    resource_operation,
)
from gradwire_service.openapi.resources import ProgramDocument, ProgramPage, RegisterRequest
from gradwire_service.routes.task_routes import TaskRoute, page_of


def _names(name: str, description: str) -> dict[str, Any]:
    return query_parameter(name, {"type": "array", "items": {"type": "string"}}, description)


_MARKS = [
    _names("type", "The type of a variable, `x:float64[10,3]`; once for each."),
    _names("target", "A name to mark as target."),
    _names("source", "A name to mark as source."),
]
_TEXT = {"schema": {"type": "string"}}


def _graph(form: str, summary: str, description: str, document: dict[str, Any]) -> TaskRoute:
    return TaskRoute(
        "GET",
        f"/v1/programs/{{program}}/graph.{form}",
        f"pictures.{form}",
        resource_operation(
            f"graph_{form}",
            summary,
            description,
            responses={200: {"description": "The graph.", "content": document}, **UNCHANGED},
            parameters=_MARKS,
        ),
        lambda request: [request.url.query],
    )


ROUTES = (
    TaskRoute(
        "POST",
        "/v1/programs",
        "programs.register",
        resource_operation(
            "register_program",
            "Register a program",
            "Store a program under its id, and under a name if one is given. A name that another "
            "program has is moved to this one.",
            status=201,
            response=ProgramDocument,
            responses=already_stored(ProgramDocument),
            requestBody=body(RegisterRequest),
        ),
    ),
    TaskRoute(
        "GET",
        "/v1/programs",
        "programs.all",
        resource_operation(
            "list_programs",
            "List this tenant's programs",
            "In pages, by their ids.",
            response=ProgramPage,
            parameters=PAGE,
        ),
        page_of,
    ),
    TaskRoute(
        "GET",
        "/v1/programs/{program}",
        "programs.show",
        resource_operation(
            "show_program",
            "Show a program",
            "By its id or name: its variables, outputs and text.",
            response=ProgramDocument,
            responses=UNCHANGED,
        ),
    ),
    TaskRoute(
        "DELETE",
        "/v1/programs/{program}",
        "programs.remove",
        resource_operation(
            "remove_program", "Remove a program", "Its names are removed, too.", status=204
        ),
    ),
    _graph(
        "svg",
        "A program drawn",
        "Its graph as a picture, for light and dark.",
        {"image/svg+xml": _TEXT},
    ),
    _graph("dot", "A program for Graphviz", "Its graph in DOT.", {"text/vnd.graphviz": _TEXT}),
    _graph(
        "json",
        "A program's graph",
        "Its nodes and edges.",
        {"application/json": content(GraphDocument)["application/json"]},
    ),
)
