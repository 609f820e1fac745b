"""Keys and scopes in the published schema."""

from __future__ import annotations

from typing import Any

from gradwire_service.access.rules import required_scope
from gradwire_service.documents.operations import problems

_SCHEME = "key"
_REFUSALS = 401, 403, 429


def add_security(schema: dict[str, Any]) -> None:
    """Describe in the OpenAPI document of a service with keys which scope each operation needs."""
    schema.setdefault("components", {})["securitySchemes"] = {
        _SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "gw_<id>_<secret>",
            "description": "An API key. An operation lists the scopes that the key needs.",
        }
    }
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            scope = required_scope(method.upper(), path)
            if scope is None:
                operation["security"] = []
                continue
            operation["security"] = [{_SCHEME: [scope]}]
            described = operation["responses"]
            described |= {str(status): problem for status, problem in problems(*_REFUSALS).items()}
            operation["responses"] = dict(sorted(described.items()))
