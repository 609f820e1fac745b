"""What is told about the work: metrics, log lines and traces, and the id that joins them."""

from gradwire_service.telemetry.account import PHASES, Account, account_of, server_timing
from gradwire_service.telemetry.export import Export, NotInstalled, open_export
from gradwire_service.telemetry.exposition import Exposition
from gradwire_service.telemetry.ids import RequestIds
from gradwire_service.telemetry.ledger import Ledger
from gradwire_service.telemetry.lines import stack_of
from gradwire_service.telemetry.log import Log, logging_to
from gradwire_service.telemetry.metrics import Metrics
from gradwire_service.telemetry.requests import Tell, request_lines
from gradwire_service.telemetry.scope import Problems, RequestScope, send_problem

__all__ = [
    "PHASES",
    "Account",
    "Export",
    "Exposition",
    "Ledger",
    "Log",
    "Metrics",
    "NotInstalled",
    "Problems",
    "RequestIds",
    "RequestScope",
    "Tell",
    "account_of",
    "logging_to",
    "open_export",
    "request_lines",
    "send_problem",
    "server_timing",
    "stack_of",
]
