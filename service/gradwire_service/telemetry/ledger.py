"""Where requests go that are over."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

from starlette.types import Scope

from gradwire_service.telemetry.account import CLIENT_GONE, Account
from gradwire_service.telemetry.metrics import METHODS, Metrics
from gradwire_service.telemetry.requests import Tell


class Ledger:
    """Counts requests that are over, and tells ``tells`` of them."""

    def __init__(self, metrics: Metrics, tells: Sequence[Tell] = ()) -> None:
        self.metrics = metrics
        self._tells = tells

    def close(self, account: Account, scope: Scope, seconds: float) -> None:
        """Enter what a request came to, of which ``scope`` tells as much as is known."""
        method = scope.get("method")
        account.method = method if method in METHODS else "other"
        account.route = getattr(scope.get("route"), "path", "none")
        account.seconds = seconds
        if account.status == CLIENT_GONE:
            self.metrics.cancelled()
        self.metrics.answered(account.route, account.method, account.status, seconds)
        if self._tells:
            account.ended_at = time()
            client = scope.get("client")
            account.client = client[0] if client else None
            for tell in self._tells:
                tell(account)
