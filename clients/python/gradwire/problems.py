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
    status, code, node = document.get("status") or 500, document.get("code"), document.get("node")
    fields = {
        "status": status,
        "code": code,
        "hint": document.get("hint"),
        "pointer": document.get("pointer"),
        "node": Node.read(node) if isinstance(node, Mapping) else None,
        "problem": document,
        **given,
    }
    detail = document.get("detail") or document.get("title") or f"{code}"
    return error_class(status, code)(detail, **fields)
