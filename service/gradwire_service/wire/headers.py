"""The headers of a request, by name."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Scope

_KEY = "gradwire.headers"


def headers_of(scope: Scope) -> Mapping[bytes, bytes]:
    """The headers of ``scope`` by their lower-case names, the last of each; made once."""
    headers: Mapping[bytes, bytes] | None = scope.get(_KEY)
    if headers is None:
        headers = scope[_KEY] = dict(scope["headers"])
    return headers
