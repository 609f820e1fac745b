"""Security headers of every response.

``Strict-Transport-Security`` is left to the proxy that terminates TLS.
"""

from __future__ import annotations

from collections.abc import Collection

Header = tuple[bytes, bytes]

_ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
_NOT_STORED = (b"cache-control", b"no-store")
_NOTHING_LOADED = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
#: For responses without headers of their own on caching or content policy.
STRICTEST = (*_ALWAYS, _NOT_STORED, _NOTHING_LOADED)
_REDIRECT = b"x-accel-redirect"
_OVERRIDING = frozenset((b"cache-control", b"content-security-policy", b"etag", _REDIRECT))


def security_headers(headers: Collection[Header]) -> tuple[Header, ...]:
    """The security headers to add to a response's own headers."""
    for name, _ in headers:
        if name in _OVERRIDING:
            break
    else:
        return STRICTEST  # the common case, without collecting names
    own = {name for name, _ in headers}
    added: tuple[Header, ...] = _ALWAYS
    # nginx would add a redirect's Cache-Control to the answer, which has its own.
    if own.isdisjoint((b"cache-control", b"etag", _REDIRECT)):
        added += (_NOT_STORED,)
    if b"content-security-policy" not in own:
        added += (_NOTHING_LOADED,)
    return added
