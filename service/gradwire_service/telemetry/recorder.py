"""Records finished requests: counts them and passes them on."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

from starlette.types import Scope

from gradwire_service.telemetry.metrics import METHODS, Metrics
from gradwire_service.telemetry.request_log import Observer
from gradwire_service.telemetry.request_stats import CLIENT_GONE, RequestStats


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
