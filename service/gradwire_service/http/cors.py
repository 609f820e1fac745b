"""Which pages may ask from within a browser (the CORS protocol of the Fetch standard)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gradwire_service.problems import Refusal

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
_ASKING = "access-control-request-method"


class PreflightRefused(Refusal):
    """That pages of an origin may not ask, or not so."""

    def __init__(self, asked: Headers) -> None:
        super().__init__(
            "method_not_allowed",
            f"pages of {asked.get('origin', 'no origin')} may not send {asked[_ASKING]} here",
            hint="GRADWIRE_CORS_ORIGINS lists the origins whose pages may ask: by "
            f"{', '.join(METHODS)}, with the headers {', '.join(ASKED)}",
        )

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return (("allow", ", ".join(METHODS)),)


class RefusingPreflights:
    """Refuses every preflight that comes this far, and leaves all else to ``app``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            headers = Headers(scope=scope)
            if _ASKING in headers:
                raise PreflightRefused(headers)
        return self._app(scope, receive, send)


class _Pages(CORSMiddleware):
    """Starlette's, which refuses preflights by a word; here they are left to those inside."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        return response if response.status_code == 200 else self.app  # type: ignore[return-value]


def answering_pages_of(origins: Sequence[str], app: ASGIApp) -> ASGIApp:
    """``app``, whose answers pages of these origins may read; without any, as it is.

    Credentials of the browser's own, so cookies, are never allowed: a key is sent by the page.
    """
    if not origins:
        return app
    return _Pages(
        app,
        allow_origins=origins,
        allow_methods=METHODS,
        allow_headers=ASKED,
        expose_headers=ANSWERED,
    )
