"""Links from responses to the operations that take their ids, in the published schema."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradwire_service.documents.requests import TAPE_KINDS


class _Resource(NamedTuple):
    """Operations that create a resource, the member with its id, and operations that use it."""

    makers: tuple[str, ...]
    member: str
    parameter: str
    uses: tuple[str, ...]


_RESOURCES = (
    _Resource(
        makers=("record_tape",),
        member="tape",
        parameter="tape",
        uses=("show_tape", *(f"tape_{kind}" for kind in TAPE_KINDS), "remove_tape"),
    ),
    _Resource(
        makers=("register_program",),
        member="id",
        parameter="program",
        uses=("show_program", "graph_svg", "graph_dot", "graph_json", "remove_program"),
    ),
    _Resource(
        makers=("store_tensor", "store_tensor_as"),
        member="ref",
        parameter="ref",
        uses=("show_tensor", "look_for_tensor", "store_tensor_as", "remove_tensor"),
    ),
)


def add_links(schema: dict[str, Any]) -> None:
    """Describe in the OpenAPI document which operations take the ids that others return."""
    operations = {
        operation["operationId"]: operation
        for path in schema["paths"].values()
        for operation in path.values()
    }
    for makers, member, parameter, uses in _RESOURCES:
        links = {
            use: {
                "operationId": use,
                "parameters": {parameter: f"$response.body#/{member}"},
            }
            for use in uses
        }
        for maker in makers:
            for status, response in operations[maker]["responses"].items():
                if status in {"200", "201"}:
                    response["links"] = links
