"""The headers of every answer that tell browsers to make no more of it than it is.

``Strict-Transport-Security`` is not among them: it is for the proxy that speaks TLS to say.
"""

from __future__ import annotations

from collections.abc import Collection

Header = tuple[bytes, bytes]

_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
_NOT_STORED = (b"cache-control", b"no-store")
_NOTHING_LOADED = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
#: Of an answer that says nothing itself of how it may be kept, or what it may load.
STRICTEST = (*_ALWAYS, _NOT_STORED, _NOTHING_LOADED)
_SAYING = frozenset((b"cache-control", b"content-security-policy", b"etag"))


def security_headers(headers: Collection[Header]) -> tuple[Header, ...]:
    """The headers to add to an answer's own."""
    for name, _ in headers:
        if name in _SAYING:
            break
    else:
        return STRICTEST  # as most do, whose names need not be collected
    said = {name for name, _ in headers}
    added: tuple[Header, ...] = _ALWAYS
    if b"cache-control" not in said and b"etag" not in said:
        added += (_NOT_STORED,)
    if b"content-security-policy" not in said:
        added += (_NOTHING_LOADED,)
    return added
