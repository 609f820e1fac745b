"""The complete OpenAPI document: FastAPI's, and the parts that FastAPI does not know."""

from __future__ import annotations

from typing import Any

from gradwire_service.documents.headers import add_headers
from gradwire_service.documents.links import add_links
from gradwire_service.documents.operations import component_schemas
from gradwire_service.documents.refusals import add_refusals
from gradwire_service.documents.security import add_security
from gradwire_service.documents.shown import add_examples

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
    """Add what FastAPI's document lacks; ``keys`` says whether the service asks for them."""
    schema.setdefault("components", {}).setdefault("schemas", {}).update(component_schemas())
    add_refusals(schema)
    if keys:
        add_security(schema)
    add_links(schema)
    add_headers(schema)
    add_examples(schema)
    used = {tag for path in schema["paths"].values() for of in path.values() for tag in of["tags"]}
    schema["tags"] = [
        {"name": tag, "description": text} for tag, text in _TAGS.items() if tag in used
    ]
