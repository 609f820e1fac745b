"""What is told about the work: the metrics, and the id that joins a request to its log lines."""

from __future__ import annotations

import logging
import re
import secrets
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from itertools import accumulate, count

import numpy as np
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradwire_service.capacity import Capacity
from gradwire_service.problems import MEDIA_TYPE, Problem, problem_of
from gradwire_service.wire.body import Disconnected
from gradwire_service.wire.headers import headers_of

logger = logging.getLogger("gradwire")

PHASES = ("parse", "compile", "replay", "encode")
#: Bounds of the phases' histograms: from a cached scalar replay to the longest request.
SECONDS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)

#: Durations that wait to be put in buckets.
_MOST_OBSERVED = 1024
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class Tally(Collector):
    """A counter by labels, counted only from the event loop, so without a lock."""

    def __init__(self, name: str, documentation: str, *labels: str) -> None:
        self._described = name, documentation
        self._labels = labels
        self.counts = Counter[tuple[str | int, ...]]()

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counts, each under its labels."""
        family = CounterMetricFamily(*self._described, labels=self._labels)
        for labels, times in sorted(self.counts.items()):
            family.add_metric([str(label) for label in labels], times)
        yield family


class PhaseDurations(Collector):
    """A histogram per phase, all observed at once from the event loop, so without a lock.

    Durations are put in their buckets many at a time, which takes a tenth of the time.
    """

    def __init__(self) -> None:
        self._observed: list[Sequence[float]] = []
        self._counts = np.zeros((len(PHASES), len(SECONDS) + 1), np.int64)
        self._sums = np.zeros(len(PHASES))

    def observe(self, seconds: Sequence[float]) -> None:
        """Count one duration of each phase."""
        self._observed.append(seconds)
        if len(self._observed) == _MOST_OBSERVED:
            self._sort()

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The histograms, their buckets cumulative."""
        self._sort()
        family = HistogramMetricFamily(
            "gradwire_phase_seconds", "Duration of the phases of a computation.", labels=["phase"]
        )
        bounds = [*map(str, SECONDS), "+Inf"]
        for phase, counts, total in zip(PHASES, self._counts.tolist(), self._sums, strict=True):
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            family.add_metric([phase], buckets, total)
        yield family

    def _sort(self) -> None:
        if not self._observed:
            return
        observed, self._observed = np.array(self._observed), []
        self._sums += observed.sum(0)
        for phase, durations in enumerate(observed.T):
            buckets = np.searchsorted(SECONDS, durations)
            self._counts[phase] += np.bincount(buckets, minlength=len(SECONDS) + 1)


_TIMING = b", ".join(phase.encode() + b";dur=%.3f" for phase in PHASES)


def server_timing(seconds: Sequence[float]) -> bytes:
    """The phases' durations as the header ``Server-Timing`` gives them, in milliseconds."""
    return _TIMING % tuple([1000 * duration for duration in seconds])


class Metrics:
    """The service's metrics, in a registry of their own."""

    def __init__(self, capacity: Capacity) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Tally(
            "gradwire_requests", "Requests answered, by route and status.", "route", "status"
        )
        self._problems = Tally("gradwire_problems", "Requests refused, by code.", "code")
        self._cache = Tally(
            "gradwire_executable_cache",
            "Computations whose executable was cached (hit) or had to be made (miss).",
            "outcome",
        )
        self._tapes = Tally(
            "gradwire_tape_values",
            "Questions about tapes whose values were kept here (kept) or computed anew (remade).",
            "outcome",
        )
        self._nonfinite = Tally(
            "gradwire_nonfinite",
            "Answers with a value (forward) or gradient (backward) that is not finite.",
            "direction",
        )
        self._joint = Tally("gradwire_joint", "Computations by a replay that others shared.")
        self._shared = Tally("gradwire_joint_replays", "Replays that several computations shared.")
        self._phases = PhaseDurations()
        for collector in (
            self._requests,
            self._problems,
            self._cache,
            self._tapes,
            self._nonfinite,
            self._joint,
            self._shared,
            self._phases,
        ):
            registry.register(collector)
        Gauge("gradwire_in_flight", "Computations under way.", registry=registry).set_function(
            lambda: capacity.in_flight
        )
        Gauge("gradwire_queued", "Computations in the pool.", registry=registry).set_function(
            lambda: capacity.queued
        )

    def answered(self, route: str, status: int) -> None:
        """Count one response."""
        self._requests.counts[route, status] += 1

    def refused(self, code: str) -> None:
        """Count one problem."""
        self._problems.counts[code,] += 1

    def computed(self, seconds: Sequence[float], *, cached: bool) -> None:
        """Count one computation and how long its phases took."""
        self._phases.observe(seconds)
        self._cache.counts["hit" if cached else "miss",] += 1

    def joined(self, computations: int) -> None:
        """Count one replay and the computations that shared it."""
        self._shared.counts[()] += 1
        self._joint.counts[()] += computations

    def asked_tape(self, *, kept: bool) -> None:
        """Count one question about a tape."""
        self._tapes.counts["kept" if kept else "remade",] += 1

    def nonfinite(self, directions: Iterable[str]) -> None:
        """Count one answer that is not finite, in these directions."""
        self._nonfinite.counts.update((direction,) for direction in directions)

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
            status = 499
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
        route = scope.get("route")
        self._metrics.answered(getattr(route, "path", "none"), status)

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
