"""The problems that any operation may answer with."""

from __future__ import annotations

from typing import Any

from gradwire_service.openapi.operations import problems
from gradwire_service.problems import KINDS

#: Of all operations: malformed requests, bugs and unavailability.
_OF_ALL = frozenset({408, 414, 417, 431, 500, 503})
#: Of operations that read a body, or headers about one.
_OF_EXCHANGES = frozenset({400, 404, 406, 413, 415, 422, 504})
EXCHANGES = frozenset({"compute", "tapes", "programs", "tensors", "tenants"})

_KNOWN = frozenset(kind.status for kind in KINDS.values())


def add_error_responses(schema: dict[str, Any]) -> None:
    """Add these problems to the operations of an OpenAPI document."""
    for path in schema["paths"].values():
        for operation in path.values():
            statuses = _OF_ALL & _KNOWN
            if not EXCHANGES.isdisjoint(operation.get("tags", ())):
                statuses |= _OF_EXCHANGES
            described = operation["responses"]
            described |= {str(status): of for status, of in problems(*statuses).items()}
            operation["responses"] = dict(sorted(described.items()))
