"""Around every request: its id, its count, and the last word on its errors."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Awaitable
from itertools import count
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.problems import MEDIA_TYPE, Problem, problem_of
from gradwire_service.telemetry.metrics import Metrics
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.headers import headers_of

logger = logging.getLogger("gradwire")

#: The status by which a request is counted that nobody waits for any more.
_CLIENT_GONE = 499
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestScope:
    """Outermost around every request: its id, its count, and the last word on its errors."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._prefix = secrets.token_hex(6)
        self._numbers = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        request_id = self._request_id(scope)
        scope["gradwire.request_id"] = request_id
        status = 0

        def send_with_id(message: Message) -> Awaitable[None]:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message.get("headers", ())
                message["headers"] = [*headers, (b"x-request-id", request_id.encode())]
            return send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Disconnected:
            status = _CLIENT_GONE
            self._metrics.cancelled()
        except Exception as error:
            problem = problem_of(error)
            if not problem.expected:
                logger.exception("request %s failed", request_id)
            if status:
                raise
            # Frames on its way hold the error, so itself, and the body of the request.
            error.__traceback__ = None
            await send_problem(problem, request_id, send_with_id)
            self._metrics.refused(problem.code)
        route = getattr(scope.get("route"), "path", "none")
        self._metrics.answered(route, scope["method"], status, perf_counter() - start)

    def _request_id(self, scope: Scope) -> str:
        given = headers_of(scope).get(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given):
            return str(given, "ascii")
        return f"{self._prefix}-{next(self._numbers):x}"


async def send_problem(problem: Problem, request_id: str, send: Send) -> None:
    """Write a problem as the response."""
    body = problem.body(request_id)
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in problem.headers),
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
