"""The line of the log that each request is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeAlias

from gradwire_service.settings import Settings
from gradwire_service.telemetry.account import PHASES, Account
from gradwire_service.telemetry.lines import printable
from gradwire_service.telemetry.log import Log

#: What is done with the account of a request that is over.
Tell: TypeAlias = Callable[[Account], None]

#: Those who watch the service ask these all day.
_WATCHED = frozenset({"/healthz", "/readyz", "/metrics"})
_FIELDS = tuple(f"{phase}_seconds" for phase in PHASES)


def request_lines(log: Log, settings: Settings) -> Tell | None:
    """What queues a line for each request; all but the figures is left to the log's thread."""
    if not settings.log_requests or settings.log_level not in ("info", "debug"):
        return None
    addresses = settings.log_client_addresses
    all_of_them = settings.log_level == "debug"

    def tell(account: Account) -> None:
        if all_of_them or account.route not in _WATCHED:
            log.put(lambda render: render(_event(account, addresses=addresses)))

    return tell


def _event(account: Account, *, addresses: bool) -> dict[str, Any]:
    second = int(account.ended_at)
    event: dict[str, Any] = {
        "time": f"{_second(second)}.{int((account.ended_at - second) * 1e6):06d}Z",
        "level": "debug" if account.route in _WATCHED else "info",
        "event": "request",
        "request_id": account.request_id,
        "method": account.method,
        "route": account.route,
        "status": account.status,
        "seconds": _rounded(account.seconds),
        "body_bytes": account.body_bytes,
        "answer_bytes": account.answer_bytes,
    }
    if account.code is not None:
        event["code"] = account.code
    if account.waited_seconds:
        event["queue_seconds"] = _rounded(account.waited_seconds)
    for name, seconds in zip(_FIELDS, account.phases, strict=True):
        if seconds:
            event[name] = _rounded(seconds)
    if account.program is not None:
        event["program"] = account.program
    if account.trace_id is not None:
        event["trace_id"] = account.trace_id
    if account.tenant is not None:
        event["tenant"] = printable(account.tenant)
    if addresses and account.client is not None:
        event["client"] = printable(account.client)
    return event


@lru_cache(maxsize=4)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _rounded(seconds: float) -> float:
    return int(seconds * 1e6 + 0.5) / 1e6  # a third of the time of round
