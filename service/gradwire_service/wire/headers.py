"""The headers of a request, by name."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Scope

#: Longest header that is used for content negotiation, whose results are cached.
MOST_BYTES = 4096
_KEY = "gradwire.headers"


def headers_of(scope: Scope) -> Mapping[bytes, bytes]:
    """The headers of ``scope`` by their lower-case names; built once.

    Repeated headers are joined by commas (RFC 9110, section 5.2).
    """
    headers: Mapping[bytes, bytes] | None = scope.get(_KEY)
    if headers is None:
        lines = scope["headers"]
        headers = dict(lines)
        if len(headers) < len(lines):
            headers = {name: b", ".join(v for n, v in lines if n == name) for name in headers}
        scope[_KEY] = headers
    return headers
