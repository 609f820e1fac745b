"""Routes that are described as any other but answered by a bare ASGI application.

What FastAPI does around a route (dependencies, validation, exit stacks) costs several times what a
small computation does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send


class RawRoute(APIRoute):
    """A documented ``POST`` route, answered by ``app``."""

    def __init__(self, path: str, app: ASGIApp, **documentation: Any) -> None:
        async def described() -> None:
            """Only described: ``app`` answers."""

        super().__init__(path, described, methods=["POST"], response_model=None, **documentation)
        self.app = app


class RawRoutes:
    """Finds raw routes by their whole path; everything else goes the usual way."""

    def __init__(self, routes: Iterable[BaseRoute], otherwise: ASGIApp) -> None:
        self._otherwise = otherwise
        self._routes = {
            ("POST", route.path): route for route in routes if isinstance(route, RawRoute)
        }

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            route = self._routes.get((scope["method"], scope["path"]))
            if route is not None:
                scope["route"] = route
                return route.app(scope, receive, send)
        return self._otherwise(scope, receive, send)
