"""A span for each request, with a child for each of its phases.

Attributes follow OpenTelemetry's conventions for HTTP, except that ``url.path`` is left out: a path
may hold the id of a tape, which is a secret.
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

from gradwire_service.telemetry.request_stats import CLIENT_GONE, PHASES, RequestStats, attached
from gradwire_service.wire.headers import headers_of

_PROPAGATOR = TraceContextTextMapPropagator()
_PARENT = (b"traceparent", b"tracestate")
#: The name of spans of waits.
_QUEUE = "queue"


class TracedStats(RequestStats):
    """Stats that also record when each phase began and ended."""

    __slots__ = ("intervals",)

    def __init__(self) -> None:
        super().__init__()
        #: Names, begins and ends, by ``perf_counter``.
        self.intervals: list[tuple[str, float, float]] = []
        self.phases: _Phases = _Phases(self.intervals)

    def add_phases(self, phases: Sequence[float]) -> None:
        """Also their intervals, as if they had followed one another until now."""
        begin = perf_counter() - sum(phases)
        for phase, seconds in enumerate(phases):
            self.phases.add(phase, begin, seconds)
            begin += seconds

    def add_wait(self, since: float, seconds: float) -> None:
        """Also its interval."""
        super().add_wait(since, seconds)
        self.intervals.append((_QUEUE, since, since + seconds))


class _Phases(list[float]):
    """Seconds by phase, each set when its phase ends: so the intervals are known."""

    def __init__(self, intervals: list[tuple[str, float, float]]) -> None:
        super().__init__([0.0] * len(PHASES))
        self._intervals = intervals

    def __setitem__(self, phase: int, seconds: float) -> None:  # type: ignore[override]
        end = perf_counter()
        spent = seconds - self[phase] if seconds >= self[phase] else seconds
        self._intervals.append((PHASES[phase], end - spent, end))
        super().__setitem__(phase, seconds)

    def add(self, phase: int, begin: float, seconds: float) -> None:
        """Add a phase of an earlier interval."""
        self._intervals.append((PHASES[phase], begin, begin + seconds))
        super().__setitem__(phase, self[phase] + seconds)


class Tracing:
    """Middleware around ``RequestMiddleware``, where traces are enabled."""

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
        stats = attached(scope, TracedStats())
        stats.trace_id = format_trace_id(context.trace_id)
        # Trace Context Level 2: the span that answered.
        answered = f"00-{stats.trace_id}-{format_span_id(context.span_id)}-01".encode()
        clock_offset = time() - perf_counter()

        def send_with_span(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"traceresponse", answered)]
            return send(message)

        try:
            await self._app(scope, receive, send_with_span)
        finally:
            self._end(span, stats, scope, clock_offset)

    def _end(self, span: Span, stats: TracedStats, scope: Scope, clock_offset: float) -> None:
        within = set_span_in_context(span)
        for name, begin, end in sorted(stats.intervals, key=lambda interval: interval[1]):
            child = self._tracer.start_span(
                name,
                within,
                attributes=_program(stats),
                start_time=int((begin + clock_offset) * 1e9),
            )
            child.end(int((end + clock_offset) * 1e9))
        span.update_name(f"{stats.method} {stats.route}")
        span.set_attributes(_attributes(stats, scope))
        if stats.status >= 500 or stats.status == CLIENT_GONE:
            span.set_status(Status(StatusCode.ERROR))
        span.end()


def _program(stats: RequestStats) -> dict[str, AttributeValue]:
    return {} if stats.program is None else {"gradwire.program.id": stats.program}


def _attributes(stats: RequestStats, scope: Scope) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {
        "http.request.method": stats.method if stats.method != "other" else "_OTHER",
        "http.request.body.size": stats.body_bytes,
        "http.response.body.size": stats.answer_bytes,
        "url.scheme": str(scope.get("scheme", "http")),
        "network.protocol.version": str(scope.get("http_version", "1.1")),
        "gradwire.request.id": stats.request_id,
        **_program(stats),
    }
    if stats.route != "none":
        attributes["http.route"] = stats.route
    if stats.status == CLIENT_GONE:
        attributes["error.type"] = "client_gone"
    else:
        attributes["http.response.status_code"] = stats.status
    if stats.code is not None:
        attributes["gradwire.problem.code"] = stats.code
        if stats.status >= 500:
            attributes["error.type"] = stats.code
    if stats.tenant is not None:
        attributes["gradwire.tenant"] = stats.tenant
    return attributes
