"""Around every request: its id, its count, and the last word on its errors."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.problems import MEDIA_TYPE, Problem, problem_of
from gradwire_service.telemetry.account import CLIENT_GONE, account_of
from gradwire_service.telemetry.ids import RequestIds
from gradwire_service.telemetry.ledger import Ledger
from gradwire_service.telemetry.metrics import Metrics
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.headers import headers_of
from gradwire_service.wire.security_headers import security_headers

logger = logging.getLogger("gradwire")


class RequestScope:
    """Outermost around every request: its id, its count, and what all answers bear."""

    def __init__(self, app: ASGIApp, ledger: Ledger) -> None:
        self._app = app
        self._ledger = ledger
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        account = account_of(scope)
        request_id = account.request_id = self._ids.of(headers_of(scope))

        def send_with_id(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                account.status = message["status"]
                headers = message.get("headers", ())
                named = (b"x-request-id", request_id.encode())
                message["headers"] = [*headers, named, *security_headers(headers)]
            else:
                account.answer_bytes += len(message.get("body", b""))
            return send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            self._ledger.close(account, scope, perf_counter() - start)


class Problems:
    """Around an application: the last word on its errors, which become problems."""

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
            account = account_of(scope)
            problem = problem_of(error)
            account.code = problem.code
            if not problem.expected:
                named = {"request_id": account.request_id}
                logger.error("a request failed", exc_info=error, extra=named)
            if account.status != CLIENT_GONE:
                raise
            # Frames on its way hold the error, so itself, and the body of the request.
            error.__traceback__ = None
            await send_problem(problem, account.request_id, send)
            self._metrics.refused(problem.code)


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
