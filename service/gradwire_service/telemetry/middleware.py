"""Middleware around every request: its id, its stats, and problems for its errors."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Awaitable, Sequence
from itertools import count
from time import perf_counter, time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.problems import MEDIA_TYPE, ProblemDetails, problem_of
from gradwire_service.telemetry.metrics import METHODS, Metrics
from gradwire_service.telemetry.request_log import Observer
from gradwire_service.telemetry.request_stats import CLIENT_GONE, RequestStats, stats_of
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.headers import headers_of
from gradwire_service.wire.security_headers import security_headers

logger = logging.getLogger("gradwire")

#: Ids that clients may give their requests.
_GIVEN = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestRecorder:
    """Counts finished requests and passes them to observers."""

    def __init__(self, metrics: Metrics, observers: Sequence[Observer] = ()) -> None:
        self.metrics = metrics
        self._observers = observers

    def record(self, stats: RequestStats, scope: Scope, seconds: float) -> None:
        """Complete and record the stats of a finished request."""
        method = scope.get("method")
        stats.method = method if method in METHODS else "other"
        stats.route = getattr(scope.get("route"), "path", "none")
        stats.seconds = seconds
        if stats.status == CLIENT_GONE:
            self.metrics.cancelled()
        self.metrics.answered(stats.route, stats.method, stats.status, seconds)
        if self._observers:
            stats.ended_at = time()
            client = scope.get("client")
            stats.client = client[0] if client else None
            for observe in self._observers:
                observe(stats)


class RequestMiddleware:
    """The outermost middleware: request ids, stats and the headers of all answers."""

    def __init__(self, app: ASGIApp, recorder: RequestRecorder) -> None:
        self._app = app
        self._recorder = recorder
        self._prefix = secrets.token_hex(6)
        self._numbers = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stats = stats_of(scope)
        request_id = stats.request_id = self._id_of(scope)

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
            self._recorder.record(stats, scope, perf_counter() - stats.began_at)

    def _id_of(self, scope: Scope) -> str:
        """The id that the client has given, or a new one."""
        given = headers_of(scope).get(b"x-request-id")
        if given is not None and _GIVEN.fullmatch(given):
            return str(given, "ascii")
        return f"{self._prefix}-{next(self._numbers):x}"


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


async def send_problem(problem: ProblemDetails, request_id: str, send: Send) -> None:
    """Send a problem as the response."""
    body = problem.body(request_id)
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in problem.headers),
    ]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
