"""CORS: which origins' pages may send requests from a browser (Fetch standard)."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gradwire_service.problems import RequestError

METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
#: Headers that pages may send and read, beyond those that are always allowed.
ALLOWED_HEADERS = (
    "Authorization",
    "Content-Encoding",
    "Content-Type",
    "Gradwire-Placement",
    "Gradwire-Program",
    "Gradwire-Timeout-Ms",
    "Idempotency-Key",
    "If-None-Match",
    "Prefer",
    "X-Request-ID",
    "traceparent",
    "tracestate",
)
EXPOSED_HEADERS = (
    "ETag",
    "Location",
    "Retry-After",
    "Server-Timing",
    "WWW-Authenticate",
    "X-Request-ID",
    "traceresponse",
)
_METHOD = "access-control-request-method"


class PreflightRefused(RequestError):
    """A preflight for an origin, method or header that is not allowed."""

    def __init__(self, sent: Headers) -> None:
        super().__init__(
            "method_not_allowed",
            f"pages of {sent.get('origin', 'no origin')} may not send {sent[_METHOD]} here",
            hint="GRADWIRE_CORS_ORIGINS lists the origins whose pages may ask: by "
            f"{', '.join(METHODS)}, with the headers {', '.join(ALLOWED_HEADERS)}",
        )

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return (("allow", ", ".join(METHODS)),)


class RefusingPreflights:
    """Around an application: refuses preflights that ``with_cors`` has not answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            headers = Headers(scope=scope)
            if _METHOD in headers:
                raise PreflightRefused(headers)
        return self._app(scope, receive, send)


class _Cors(CORSMiddleware):
    """Starlette's, but a refused preflight goes on to ``RefusingPreflights``, for a problem."""

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        return response if response.status_code == 200 else self.app  # type: ignore[return-value]


def with_cors(origins: Sequence[str], app: ASGIApp) -> ASGIApp:
    """Around ``app``, let pages of these origins read its answers.

    Cookies are never allowed: the page itself sends the API key.
    """
    if not origins:
        return app
    return _Cors(
        app,
        allow_origins=origins,
        allow_methods=METHODS,
        allow_headers=ALLOWED_HEADERS,
        expose_headers=EXPOSED_HEADERS,
    )
