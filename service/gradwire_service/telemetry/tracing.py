"""A span for each request, with one for each thing that it spent its time on.

Named as OpenTelemetry's conventions name them, but for ``url.path``: a path may hold a tape's id,
which whoever knows it may use, so only its route is told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from time import perf_counter, time

from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    format_span_id,
    format_trace_id,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.telemetry.account import CLIENT_GONE, PHASES, Account, opened
from gradwire_service.wire.headers import headers_of

_PROPAGATOR = TraceContextTextMapPropagator()
_PARENT = (b"traceparent", b"tracestate")
#: Of a span that stands for a wait.
_QUEUE = "queue"


class TracedAccount(Account):
    """An account that also knows when its figures came about."""

    __slots__ = ("intervals",)

    def __init__(self) -> None:
        super().__init__()
        #: Names, begins and ends, by ``perf_counter``.
        self.intervals: list[tuple[str, float, float]] = []
        self.phases: _Phases = _Phases(self.intervals)

    def take_over(self, phases: Sequence[float]) -> None:
        """They ended now, and followed one another."""
        begin = perf_counter() - sum(phases)
        for phase, seconds in enumerate(phases):
            self.phases.add(phase, begin, seconds)
            begin += seconds

    def wait(self, since: float, seconds: float) -> None:
        """Also remember when."""
        super().wait(since, seconds)
        self.intervals.append((_QUEUE, since, since + seconds))


class _Phases(list[float]):
    """Seconds by phase: each is set when the phase ends, so that is when it was."""

    def __init__(self, intervals: list[tuple[str, float, float]]) -> None:
        super().__init__([0.0] * len(PHASES))
        self._intervals = intervals

    def __setitem__(self, phase: int, seconds: float) -> None:  # type: ignore[override]
        end = perf_counter()
        spent = seconds - self[phase] if seconds >= self[phase] else seconds
        self._intervals.append((PHASES[phase], end - spent, end))
        super().__setitem__(phase, seconds)

    def add(self, phase: int, begin: float, seconds: float) -> None:
        """Count what a phase took that began then."""
        self._intervals.append((PHASES[phase], begin, begin + seconds))
        super().__setitem__(phase, self[phase] + seconds)


class Tracing:
    """Outermost of all around an application, where traces are wanted."""

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope)
        given = {
            name.decode(): headers[name].decode("latin-1") for name in _PARENT if name in headers
        }
        parent = _PROPAGATOR.extract(given)
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        if not span.is_recording():
            await self._app(scope, receive, send)
            return
        context = span.get_span_context()
        account = opened(scope, TracedAccount())
        account.trace_id = format_trace_id(context.trace_id)
        # Level 2 of Trace Context: which span answered.
        answered = f"00-{account.trace_id}-{format_span_id(context.span_id)}-01".encode()
        clocks_apart = time() - perf_counter()

        def send_with_span(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"traceresponse", answered)]
            return send(message)

        try:
            await self._app(scope, receive, send_with_span)
        finally:
            self._end(span, account, scope, clocks_apart)

    def _end(self, span: Span, account: TracedAccount, scope: Scope, clocks_apart: float) -> None:
        within = set_span_in_context(span)
        for name, begin, end in sorted(account.intervals, key=lambda interval: interval[1]):
            child = self._tracer.start_span(
                name,
                within,
                attributes=_program(account),
                start_time=int((begin + clocks_apart) * 1e9),
            )
            child.end(int((end + clocks_apart) * 1e9))
        span.update_name(f"{account.method} {account.route}")
        span.set_attributes(_attributes(account, scope))
        if account.status >= 500 or account.status == CLIENT_GONE:
            span.set_status(Status(StatusCode.ERROR))
        span.end()


def _program(account: Account) -> dict[str, AttributeValue]:
    return {} if account.program is None else {"gradwire.program.id": account.program}


def _attributes(account: Account, scope: Scope) -> dict[str, AttributeValue]:
    told: dict[str, AttributeValue] = {
        "http.request.method": account.method if account.method != "other" else "_OTHER",
        "http.request.body.size": account.body_bytes,
        "http.response.body.size": account.answer_bytes,
        "url.scheme": str(scope.get("scheme", "http")),
        "network.protocol.version": str(scope.get("http_version", "1.1")),
        "gradwire.request.id": account.request_id,
        **_program(account),
    }
    if account.route != "none":
        told["http.route"] = account.route
    if account.status == CLIENT_GONE:
        told["error.type"] = "client_gone"
    else:
        told["http.response.status_code"] = account.status
    if account.code is not None:
        told["gradwire.problem.code"] = account.code
        if account.status >= 500:
            told["error.type"] = account.code
    if account.tenant is not None:
        told["gradwire.tenant"] = account.tenant
    return told
