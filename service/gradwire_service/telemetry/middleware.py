"""Middleware around every request: its id, its stats, and problems for its errors."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.problems import MEDIA_TYPE, Problem, problem_of
from gradwire_service.telemetry.ids import RequestIds
from gradwire_service.telemetry.metrics import Metrics
from gradwire_service.telemetry.recorder import RequestRecorder
from gradwire_service.telemetry.request_stats import CLIENT_GONE, stats_of
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.headers import headers_of
from gradwire_service.wire.security_headers import security_headers

logger = logging.getLogger("gradwire")


class RequestMiddleware:
    """The outermost middleware: request ids, stats and the headers of all answers."""

    def __init__(self, app: ASGIApp, recorder: RequestRecorder) -> None:
        self._app = app
        self._recorder = recorder
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        stats = stats_of(scope)
        request_id = stats.request_id = self._ids.of(headers_of(scope))

        def send_with_id(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                stats.status = message["status"]
                headers = message.get("headers", ())
                named = (b"x-request-id", request_id.encode())
                message["headers"] = [*headers, named, *security_headers(headers)]
            else:
                stats.answer_bytes += len(message.get("body", b""))
            return send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            self._recorder.record(stats, scope, perf_counter() - start)


class ProblemMiddleware:
    """Answers errors with problems."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        except Disconnected:
            pass
        except Exception as error:
            stats = stats_of(scope)
            problem = problem_of(error)
            stats.code = problem.code
            if not problem.expected:
                extra = {"request_id": stats.request_id}
                logger.error("a request failed", exc_info=error, extra=extra)
            if stats.status != CLIENT_GONE:
                raise
            # Its frames hold the body of the request, and the error itself: a reference cycle.
            error.__traceback__ = None
            await send_problem(problem, stats.request_id, send)
            self._metrics.refused(problem.code)


async def send_problem(problem: Problem, request_id: str, send: Send) -> None:
    """Send a problem as the response."""
    body = problem.body(request_id)
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in problem.headers),
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
