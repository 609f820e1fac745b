"""Quarantine of programs that crash worker processes, per owner and for a while."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic

from gradwire_service.problems import RequestError
from gradwire_service.routes.exchange import Exchange

#: Crashes within a number of seconds that quarantine a program.
MOST_CRASHES, SECONDS = 2, 60.0
#: Maximum programs remembered per owner, and maximum owners.
_MOST_PROGRAMS, _MOST_OWNERS = 100, 1000


class Quarantine:
    """Counts crashes by owner and program; free of cost for owners without crashes."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._crashes: OrderedDict[str, OrderedDict[bytes, deque[float]]] = OrderedDict()

    def check(self, exchange: Exchange) -> None:
        """Raises: ``RequestError`` (crashing_program) if the program has crashed too often."""
        crashes = self._crashes.get(exchange.request.owner)
        if crashes is None:
            return
        times = crashes.get(exchange.fingerprint)
        if times is None or len(times) < MOST_CRASHES:
            return
        seconds = times[0] + SECONDS - self._clock()
        if seconds > 0:
            raise RequestError(
                "crashing_program",
                f"this program crashed {MOST_CRASHES} worker processes within a minute",
                hint="report it with the program; rewriting the program may avoid the crash",
                retry_after_seconds=math.ceil(seconds),
            )

    def count(self, exchange: Exchange) -> None:
        """Count a crash."""
        crashes = self._crashes.setdefault(exchange.request.owner, OrderedDict())
        times = crashes.setdefault(exchange.fingerprint, deque(maxlen=MOST_CRASHES))
        times.append(self._clock())
        if len(crashes) > _MOST_PROGRAMS:
            crashes.popitem(last=False)
        if len(self._crashes) > _MOST_OWNERS:
            self._crashes.popitem(last=False)
