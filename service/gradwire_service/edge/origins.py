"""Which pages may ask from within a browser (the CORS protocol of the Fetch standard)."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
#: What pages may send beyond what they always may, and read.
ASKED = (
    "Authorization",
    "Content-Encoding",
    "Content-Type",
    "Gradwire-Program",
    "Gradwire-Timeout-Ms",
    "Idempotency-Key",
    "If-None-Match",
    "X-Request-ID",
    "traceparent",
    "tracestate",
)
ANSWERED = (
    "ETag",
    "Location",
    "Retry-After",
    "Server-Timing",
    "WWW-Authenticate",
    "X-Request-ID",
    "traceresponse",
)


def answering_pages_of(origins: Sequence[str], app: ASGIApp) -> ASGIApp:
    """``app``, whose answers pages of these origins may read; without any, as it is.

    Credentials of the browser's own, so cookies, are never allowed: a key is sent by the page.
    """
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=METHODS,
        allow_headers=ASKED,
        expose_headers=ANSWERED,
    )
