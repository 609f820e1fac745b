"""Problem documents (RFC 9457) as errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwire.errors import APIError, ServerError
from gradwire.locations import Node


def error_class(status: int, code: str | None) -> type[APIError]:
    """The class of a code, else that of the status."""
    by_status = APIError.known.get(status, ServerError if status >= 500 else APIError)
    return APIError.known.get(code or "", by_status)


def problem_error(document: Mapping[str, Any], **given: Any) -> APIError:
    """The error of a problem document; fields that are ``given`` are not in it."""
    status = document.get("status")
    status, code = status if isinstance(status, int) else 500, _text(document, "code")
    fields = {
        "status": status,
        "code": code,
        "hint": _text(document, "hint"),
        "pointer": _text(document, "pointer"),
        "node": _node(document.get("node")),
        "problem": document,
        **given,
    }
    detail = _text(document, "detail") or _text(document, "title") or f"{code or status}"
    return error_class(status, code)(detail, **fields)


def _text(document: Mapping[str, Any], name: str) -> str | None:
    """A member that is text: others may answer, who know no problems of the service's."""
    found = document.get(name)
    return found if isinstance(found, str) else None


def _node(described: Any) -> Node | None:
    if not isinstance(described, Mapping):
        return None
    node = Node.read(described)
    known = {"line": int, "column": int, "op": str, "id": str}
    is_whole = all(isinstance(getattr(node, name, None), k | None) for name, k in known.items())
    return node if is_whole else None
