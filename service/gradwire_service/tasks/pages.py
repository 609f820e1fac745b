"""Pages of listings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradwire_service.problems import RequestError

T = TypeVar("T")

#: Most records on a page.
_MOST = 1000


def page(
    name: str,
    limit: str,
    first: Callable[[int], Sequence[T]],
    document_of: Callable[[T], dict[str, Any]],
) -> dict[str, Any]:
    """The document of a page: the ``first`` records, and the id after which the next one begins.

    Raises: ``RequestError`` (invalid_request) for a limit that is no number of records.
    """
    digits = limit.isascii() and limit.isdigit() and len(limit) <= len(str(_MOST))
    if not (digits and 0 < int(limit) <= _MOST):
        raise RequestError("invalid_request", f"limit must be a number from 1 to {_MOST}")
    found = first(int(limit) + 1)
    documents = [document_of(each) for each in found[: int(limit)]]
    more = {"after": documents[-1]["id"]} if len(found) > len(documents) else {}
    return {name: documents, **more}
