"""Routes that are described as any other but answered by a bare ASGI application.

What FastAPI does around a route (dependencies, validation, exit stacks) costs several times what a
small computation does.
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
            """Only described: ``app`` answers."""

        super().__init__(path, described, methods=["POST"], response_model=None, **documentation)
        self.app = app


class RawRoutes:
    """Finds raw routes by their whole path; everything else goes the usual way.

    What may be had by ``GET`` may be asked for by ``HEAD`` (RFC 9110, 9.3.2), if by no route of
    its own, then by the same.
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
        asked = {**scope, "method": "GET"}
        try:
            await self._otherwise(asked, receive, _without_bodies(send))
        finally:
            if "route" in asked:
                scope["route"] = asked["route"]


def methods_of(routes: Iterable[BaseRoute], scope: Scope) -> set[str]:
    """The methods that the path of ``scope`` takes: routes are asked for one after the other."""
    asked = {method: {**scope, "method": method} for method in _METHODS}
    return {
        method
        for method in _METHODS
        if any(route.matches(asked[method])[0] is Match.FULL for route in routes)
    }


def _without_bodies(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({"type": "http.response.body", "body": b""})

    return send_head
