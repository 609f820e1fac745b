"""Lists that the service answers in pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from gradwire.call import Call, Steps

T = TypeVar("T")

#: Most items that the service lists in one answer.
PAGE: Final = 1000


def listed(kind: str, read: Callable[[Mapping[str, Any]], T]) -> Steps[list[T]]:
    """The steps to all items of a kind: a request for each page."""
    found: list[T] = []
    query: dict[str, str | int] = {"limit": PAGE}
    while True:
        asked = Call("GET", f"/v1/{kind}?{urlencode(query)}", None, lambda reply: reply)
        document = (yield from asked).document
        found += map(read, document[kind])
        if document.get("after") is None:
            return found
        query["after"] = document["after"]
