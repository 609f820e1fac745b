"""Routes that FastAPI documents, but a bare ASGI application answers.

FastAPI's dependencies, validation and exit stacks cost several times as much as a small
computation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")


class RawRoute(APIRoute):
    """A documented ``POST`` route, answered by ``app``."""

    def __init__(self, path: str, app: ASGIApp, **documentation: Any) -> None:
        async def described() -> None:
            """Only documents the route: ``app`` answers."""

        super().__init__(path, described, methods=["POST"], response_model=None, **documentation)
        self.app = app


class RawRoutes:
    """Finds raw routes by their exact path; all other requests go to FastAPI.

    ``HEAD`` without a route of its own is answered by the ``GET`` route (RFC 9110, 9.3.2).
    """

    def __init__(self, routes: Sequence[BaseRoute], otherwise: ASGIApp) -> None:
        self._otherwise = otherwise
        self._all = routes
        self._routes = {
            ("POST", route.path): route for route in routes if isinstance(route, RawRoute)
        }

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            route = self._routes.get((scope["method"], scope["path"]))
            if route is not None:
                scope["route"] = route
                return route.app(scope, receive, send)
            if scope["method"] == "HEAD" and "HEAD" not in methods_of(self._all, scope):
                return self._answer_head(scope, receive, send)
        return self._otherwise(scope, receive, send)

    async def _answer_head(self, scope: Scope, receive: Receive, send: Send) -> None:
        as_get = {**scope, "method": "GET"}
        try:
            await self._otherwise(as_get, receive, _without_bodies(send))
        finally:
            if "route" in as_get:
                scope["route"] = as_get["route"]


def methods_of(routes: Iterable[BaseRoute], scope: Scope) -> set[str]:
    """The methods that the path of ``scope`` allows, over all routes."""
    scopes = {method: {**scope, "method": method} for method in _METHODS}
    return {
        method
        for method in _METHODS
        if any(route.matches(scopes[method])[0] is Match.FULL for route in routes)
    }


def _without_bodies(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_head
