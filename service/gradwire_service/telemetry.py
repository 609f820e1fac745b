"""What is told about the work: the metrics, and the id that joins a request to its log lines."""

from __future__ import annotations

import logging
import re
import secrets
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, count

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.capacity import Capacity
from gradwire_service.problems import MEDIA_TYPE, Problem, problem_of
from gradwire_service.wire.body import Disconnected

logger = logging.getLogger("gradwire")

PHASES = ("parse", "compile", "replay", "encode")
#: Bounds of the phases' histograms: from a cached scalar replay to the longest request.
SECONDS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class PhaseDurations(Collector):
    """A histogram per phase, all observed at once from the event loop, so without a lock."""

    def __init__(self) -> None:
        self._counts = [[0] * (len(SECONDS) + 1) for _ in PHASES]
        self._sums = [0.0] * len(PHASES)

    def observe(self, seconds: Sequence[float]) -> None:
        """Count one duration of each phase."""
        for phase, duration in enumerate(seconds):
            self._counts[phase][bisect_left(SECONDS, duration)] += 1
            self._sums[phase] += duration

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The histograms, their buckets cumulative."""
        family = HistogramMetricFamily(
            "gradwire_phase_seconds", "Duration of the phases of a computation.", labels=["phase"]
        )
        bounds = [*map(str, SECONDS), "+Inf"]
        for phase, counts, total in zip(PHASES, self._counts, self._sums, strict=True):
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            family.add_metric([phase], buckets, total)
        yield family


def server_timing(seconds: Sequence[float]) -> str:
    """The phases' durations as the header ``Server-Timing`` gives them."""
    pairs = zip(PHASES, seconds, strict=True)
    return ", ".join([f"{phase};dur={1000 * duration:.3f}" for phase, duration in pairs])


class Metrics:
    """The service's metrics, in a registry of their own."""

    def __init__(self, capacity: Capacity) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "gradwire_requests",
            "Requests answered, by route and status.",
            ("route", "status"),
            registry=registry,
        )
        self._problems = Counter(
            "gradwire_problems", "Requests refused, by code.", ("code",), registry=registry
        )
        self._phases = PhaseDurations()
        registry.register(self._phases)
        cache = Counter(
            "gradwire_executable_cache",
            "Computations whose executable was cached (hit) or had to be made (miss).",
            ("outcome",),
            registry=registry,
        )
        self._tapes = Counter(
            "gradwire_tape_values",
            "Questions about tapes whose values were kept here (kept) or computed anew (remade).",
            ("outcome",),
            registry=registry,
        )
        self._nonfinite = Counter(
            "gradwire_nonfinite",
            "Answers with a value (forward) or gradient (backward) that is not finite.",
            ("direction",),
            registry=registry,
        )
        self._hit, self._miss = cache.labels("hit"), cache.labels("miss")
        self._request_counts: dict[tuple[str, int], Counter] = {}
        Gauge("gradwire_in_flight", "Computations under way.", registry=registry).set_function(
            lambda: capacity.in_flight
        )
        Gauge("gradwire_queued", "Computations in the pool.", registry=registry).set_function(
            lambda: capacity.queued
        )

    def answered(self, route: str, status: int) -> None:
        """Count one response."""
        counter = self._request_counts.get((route, status))
        if counter is None:
            counter = self._requests.labels(route, str(status))
            self._request_counts[route, status] = counter
        counter.inc()

    def refused(self, code: str) -> None:
        """Count one problem."""
        self._problems.labels(code).inc()

    def computed(self, seconds: Sequence[float], *, cached: bool) -> None:
        """Count one computation and how long its phases took."""
        self._phases.observe(seconds)
        (self._hit if cached else self._miss).inc()

    def asked_tape(self, *, kept: bool) -> None:
        """Count one question about a tape."""
        self._tapes.labels("kept" if kept else "remade").inc()

    def nonfinite(self, direction: str) -> None:
        """Count one answer that is not finite."""
        self._nonfinite.labels(direction).inc()

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


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
        request_id = self._request_id(scope)
        scope["gradwire.request_id"] = request_id
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message.setdefault("headers", [])
                message["headers"] = [*headers, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Disconnected:
            status = 499
        except Exception as error:
            problem = problem_of(error)
            if not problem.expected:
                logger.exception("request %s failed", request_id)
            if status:
                raise
            await send_problem(problem, request_id, send_with_id)
            self._metrics.refused(problem.code)
        route = scope.get("route")
        self._metrics.answered(getattr(route, "path", "none"), status)

    def _request_id(self, scope: Scope) -> str:
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
                return str(value, "ascii")
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
