"""Around every request: its id, its count, and the last word on its errors."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Awaitable, Sequence
from itertools import count
from time import perf_counter, time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.problems import MEDIA_TYPE, Problem, problem_of
from gradwire_service.telemetry.account import CLIENT_GONE, Account, account_of
from gradwire_service.telemetry.metrics import METHODS, Metrics
from gradwire_service.telemetry.requests import Tell
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.headers import headers_of

logger = logging.getLogger("gradwire")

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestScope:
    """Outermost around every request: its id, its count, and the last word on its errors.

    ``tells`` are told of each request that is over.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, tells: Sequence[Tell] = ()) -> None:
        self._app = app
        self._metrics = metrics
        self._tells = tells
        self._prefix = secrets.token_hex(6)
        self._numbers = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = perf_counter()
        account = account_of(scope)
        request_id = account.request_id = self._request_id(scope)

        def send_with_id(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                account.status = message["status"]
                headers = message.get("headers", ())
                message["headers"] = [*headers, (b"x-request-id", request_id.encode())]
            else:
                account.answer_bytes += len(message.get("body", b""))
            return send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Disconnected:
            pass
        except Exception as error:
            problem = problem_of(error)
            account.code = problem.code
            if not problem.expected:
                logger.error("a request failed", exc_info=error, extra={"request_id": request_id})
            if account.status != CLIENT_GONE:
                raise
            # Frames on its way hold the error, so itself, and the body of the request.
            error.__traceback__ = None
            await send_problem(problem, request_id, send_with_id)
            self._metrics.refused(problem.code)
        finally:
            self._end(scope, account, perf_counter() - start)

    def _end(self, scope: Scope, account: Account, seconds: float) -> None:
        method = scope["method"]
        account.method = method if method in METHODS else "other"
        account.route = getattr(scope.get("route"), "path", "none")
        account.seconds = seconds
        if account.status == CLIENT_GONE:
            self._metrics.cancelled()
        self._metrics.answered(account.route, account.method, account.status, seconds)
        if self._tells:
            account.ended_at = time()
            client = scope.get("client")
            account.client = client[0] if client else None
            for tell in self._tells:
                tell(account)

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
