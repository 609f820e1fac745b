"""Admission of requests to the event loop, in fair turns of the tenants."""

from __future__ import annotations

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send

from gradwire_service.http.limiter import HEALTH
from gradwire_service.routes.exchange import tenant_of
from gradwire_service.scheduling import Rounds


class Admission:
    """Has all requests but those about health wait for their turn, before they are routed."""

    def __init__(self, app: ASGIApp, rounds: Rounds) -> None:
        self._app = app
        self._rounds = rounds

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        answer = self._app(scope, receive, send)
        if scope["type"] != "http" or scope["path"] in HEALTH:
            return answer
        return self._rounds.serve(tenant_of(scope), answer)  # type: ignore[arg-type]
