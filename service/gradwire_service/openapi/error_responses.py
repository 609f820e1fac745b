"""The problems that any operation may answer with, and the scopes that operations need."""

from __future__ import annotations

from typing import Any

from gradwire_service.access.rules import required_scope
from gradwire_service.openapi.operations import problems

#: Of all operations: malformed requests, bugs and unavailability.
_OF_ALL = frozenset({408, 414, 417, 431, 500, 503})
#: Of operations that read a body, or headers about one.
_OF_EXCHANGES = frozenset({400, 404, 406, 413, 415, 422, 504})
EXCHANGES = frozenset({"compute", "tapes", "programs", "tensors", "jobs", "tenants"})
#: Of operations that need an API key.
_OF_KEYS = frozenset({401, 403, 429})
_SCHEME = "key"


def add_error_responses(schema: dict[str, Any], *, keys: bool) -> None:
    """Add these problems to the operations of an OpenAPI document; with ``keys``, scopes, too."""
    if keys:
        schema["components"]["securitySchemes"] = {
            _SCHEME: {
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "gw_<id>_<secret>",
                "description": "An API key; operations list the scopes that it needs.",
            }
        }
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            statuses = _OF_ALL
            if not EXCHANGES.isdisjoint(operation.get("tags", ())):
                statuses |= _OF_EXCHANGES
            if keys:
                scope = required_scope(method.upper(), path)
                operation["security"] = [] if scope is None else [{_SCHEME: [scope]}]
                statuses |= frozenset() if scope is None else _OF_KEYS
            described = operation["responses"]
            described |= {str(status): of for status, of in problems(*statuses).items()}
            operation["responses"] = dict(sorted(described.items()))
