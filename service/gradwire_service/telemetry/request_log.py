"""One log line for each request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeAlias

from gradwire_service.settings import Settings
from gradwire_service.telemetry.log import Log
from gradwire_service.telemetry.rendering import printable
from gradwire_service.telemetry.request_stats import PHASES, RequestStats

#: Called with the stats of each finished request.
Observer: TypeAlias = Callable[[RequestStats], None]

#: Routes that monitoring polls.
_WATCHED = frozenset({"/healthz", "/readyz", "/metrics"})
_FIELDS = tuple(f"{phase}_seconds" for phase in PHASES)


def request_logger(log: Log, settings: Settings) -> Observer | None:
    """An observer that queues a line for each request, which the log's thread renders."""
    if not settings.log_requests or settings.log_level not in ("info", "debug"):
        return None
    addresses = settings.log_client_addresses
    all_of_them = settings.log_level == "debug"

    def log_request(stats: RequestStats) -> None:
        if all_of_them or stats.route not in _WATCHED:
            log.put(lambda render: render(_event(stats, addresses=addresses)))

    return log_request


def _event(stats: RequestStats, *, addresses: bool) -> dict[str, Any]:
    second = int(stats.ended_at)
    event: dict[str, Any] = {
        "time": f"{_second(second)}.{int((stats.ended_at - second) * 1e6):06d}Z",
        "level": "debug" if stats.route in _WATCHED else "info",
        "event": "request",
        "request_id": stats.request_id,
        "method": stats.method,
        "route": stats.route,
        "status": stats.status,
        "seconds": _rounded(stats.seconds),
        "body_bytes": stats.body_bytes,
        "answer_bytes": stats.answer_bytes,
    }
    if stats.code is not None:
        event["code"] = stats.code
    if stats.waited_seconds:
        event["queue_seconds"] = _rounded(stats.waited_seconds)
    for name, seconds in zip(_FIELDS, stats.phases, strict=True):
        if seconds:
            event[name] = _rounded(seconds)
    if stats.on_gpu:
        event["gpu"] = True
    if stats.program is not None:
        event["program"] = stats.program
    if stats.trace_id is not None:
        event["trace_id"] = stats.trace_id
    if stats.tenant is not None:
        event["tenant"] = printable(stats.tenant)
    if addresses and stats.client is not None:
        event["client"] = printable(stats.client)
    return event


@lru_cache(maxsize=4)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _rounded(seconds: float) -> float:
    return int(seconds * 1e6 + 0.5) / 1e6  # a third of the time of round
