"""The problems that any request may be answered with, in the published schema."""

from __future__ import annotations

from typing import Any

from gradwire_service.documents.operations import problems
from gradwire_service.problems import KINDS

#: Of all requests: malformed ones, bugs of the service, and replicas that are not available.
_OF_ALL = frozenset({408, 414, 417, 431, 500, 503})
#: Of requests with a body, or with headers that describe one.
_OF_EXCHANGES = frozenset({400, 404, 406, 413, 415, 422, 504})
EXCHANGES = frozenset({"compute", "tapes", "programs", "tensors", "tenants"})

_KNOWN = frozenset(kind.status for kind in KINDS.values())


def add_refusals(schema: dict[str, Any]) -> None:
    """Describe in the OpenAPI document the problems of its operations."""
    for path in schema["paths"].values():
        for operation in path.values():
            statuses = _OF_ALL & _KNOWN
            if not EXCHANGES.isdisjoint(operation.get("tags", ())):
                statuses |= _OF_EXCHANGES
            described = operation["responses"]
            described |= {str(status): of for status, of in problems(*statuses).items()}
            operation["responses"] = dict(sorted(described.items()))
