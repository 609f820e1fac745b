"""Builds the OpenAPI document: FastAPI's, completed."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from gradwire_service.openapi.error_responses import add_error_responses
from gradwire_service.openapi.examples import add_examples
from gradwire_service.openapi.graphs import GraphDocument
from gradwire_service.openapi.headers import add_headers
from gradwire_service.openapi.jobs import JobDocument, JobPage
from gradwire_service.openapi.json_schema import Forms
from gradwire_service.openapi.operations import REF
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

#: The purpose of each tag's operations, in the order of the document.
_TAGS = {
    "compute": "Values and derivatives of a program, in one request.",
    "tapes": "A program run once and stored with its values, for derivatives later.",
    "programs": "Programs that requests refer to by id or name, and their graphs.",
    "tensors": "Arrays that requests refer to by digest.",
    "jobs": "Optimisations that take longer than an answer may.",
    "service": "Operations and limits of this service.",
    "health": "For load balancers and monitoring.",
    "tenants": "For operators.",
}


class _Resource(NamedTuple):
    """Operations that create a resource, the member with its id, and operations that take it."""

    makers: tuple[str, ...]
    member: str
    parameter: str
    uses: tuple[str, ...]
    statuses: tuple[str, ...] = ("200", "201")


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
    _Resource(
        makers=tuple(SOLVE_REQUESTS),
        member="id",
        parameter="job",
        uses=("show_job", "follow_job", "remove_job"),
        statuses=("202",),
    ),
)


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


def complete(schema: dict[str, Any], *, keys: bool) -> None:
    """Complete FastAPI's document; ``keys``: whether the service requires API keys."""
    schema.setdefault("components", {}).setdefault("schemas", {}).update(component_schemas())
    add_error_responses(schema, keys=keys)
    _add_links(schema)
    add_headers(schema)
    add_examples(schema)
    used = {tag for path in schema["paths"].values() for of in path.values() for tag in of["tags"]}
    schema["tags"] = [
        {"name": tag, "description": text} for tag, text in _TAGS.items() if tag in used
    ]


def _add_links(schema: dict[str, Any]) -> None:
    """Add the links of resources to an OpenAPI document."""
    operations = {
        operation["operationId"]: operation
        for path in schema["paths"].values()
        for operation in path.values()
    }
    for makers, member, parameter, uses, statuses in _RESOURCES:
        links = {
            use: {
                "operationId": use,
                "parameters": {parameter: f"$response.body#/{member}"},
            }
            for use in uses
        }
        for maker in makers:
            for status, response in operations[maker]["responses"].items():
                if status in statuses:
                    response["links"] = links
