"""Telemetry: metrics, log lines and traces, joined by request ids."""

from gradwire_service.telemetry.exposition import Exposition
from gradwire_service.telemetry.log import Log, logging_to
from gradwire_service.telemetry.metrics import Metrics
from gradwire_service.telemetry.middleware import (
    ProblemMiddleware,
    RequestMiddleware,
    RequestRecorder,
    send_problem,
)
from gradwire_service.telemetry.rendering import stack_of
from gradwire_service.telemetry.request_log import Observer, request_logger
from gradwire_service.telemetry.request_stats import PHASES, RequestStats, server_timing, stats_of
from gradwire_service.telemetry.trace_export import (
    ExtraNotInstalled,
    TraceExport,
    open_trace_export,
)

__all__ = [
    "PHASES",
    "Exposition",
    "ExtraNotInstalled",
    "Log",
    "Metrics",
    "Observer",
    "ProblemMiddleware",
    "RequestMiddleware",
    "RequestRecorder",
    "RequestStats",
    "TraceExport",
    "logging_to",
    "open_trace_export",
    "request_logger",
    "send_problem",
    "server_timing",
    "stack_of",
    "stats_of",
]
