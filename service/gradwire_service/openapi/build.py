"""Builds the OpenAPI document: FastAPI's, completed."""

from __future__ import annotations

from typing import Any

from gradwire_service.openapi.error_responses import add_error_responses
from gradwire_service.openapi.examples import add_examples
from gradwire_service.openapi.headers import add_headers
from gradwire_service.openapi.links import add_links
from gradwire_service.openapi.operations import component_schemas

#: What the operations of each tag are for, in the order of the document.
_TAGS = {
    "compute": "Values and derivatives of a program, in one request.",
    "tapes": "A program run once and stored with its values, for derivatives later.",
    "programs": "Programs that requests refer to by id or name, and their graphs.",
    "tensors": "Arrays that requests refer to by digest.",
    "service": "Operations and limits of this service.",
    "health": "For load balancers and monitoring.",
    "tenants": "For operators.",
}


def complete(schema: dict[str, Any], *, keys: bool) -> None:
    """Complete FastAPI's document; ``keys``: whether the service requires API keys."""
    schema.setdefault("components", {}).setdefault("schemas", {}).update(component_schemas())
    add_error_responses(schema, keys=keys)
    add_links(schema)
    add_headers(schema)
    add_examples(schema)
    used = {tag for path in schema["paths"].values() for of in path.values() for tag in of["tags"]}
    schema["tags"] = [
        {"name": tag, "description": text} for tag, text in _TAGS.items() if tag in used
    ]
