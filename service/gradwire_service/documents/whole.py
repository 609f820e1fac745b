"""The OpenAPI document, whole: what FastAPI makes of the routes, and all that it does not know."""

from __future__ import annotations

from typing import Any

from gradwire_service.documents.headers import add_headers
from gradwire_service.documents.links import add_links
from gradwire_service.documents.operations import component_schemas
from gradwire_service.documents.refusals import add_refusals
from gradwire_service.documents.security import add_security
from gradwire_service.documents.shown import add_examples


def complete(schema: dict[str, Any], *, keys: bool) -> None:
    """Add what FastAPI's document lacks; ``keys`` says whether the service asks for them."""
    schema.setdefault("components", {}).setdefault("schemas", {}).update(component_schemas())
    add_refusals(schema)
    if keys:
        add_security(schema)
    add_links(schema)
    add_headers(schema)
    add_examples(schema)
