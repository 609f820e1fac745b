"""What all connections share: their settings, their number, and the look that is kept on them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from gradwire_service.edge.transfers import Departure
from gradwire_service.problems import MEDIA_TYPE, Refusal, problem_of
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Account, Ledger, RequestIds
from gradwire_service.wire.security_headers import STRICTEST, Header

#: How often it is looked for clients that are late: no request starts or stops a timer.
INTERVAL_SECONDS = 0.25
_LIST_SECONDS = 0.02


class Watched(Protocol):
    """What is looked at."""

    #: What it was answered and has not taken.
    departure: Departure

    @property
    def idle_since(self) -> float | None:
        """Since when it waits for a request, if it does."""

    def end(self) -> None:
        """End it, as idle connections may end at any time."""

    def look(self, now: float) -> None:
        """Look whether its client is late."""

    def cut(self) -> None:
        """End it at once."""


class Gate:
    """What all connections of a process share."""

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self.settings = settings
        #: Bytes of bodies that are not whole yet.
        self.arriving_bytes = 0
        self._ledger = ledger
        self._ids = RequestIds()
        self._connections: set[Watched] = set()
        #: Idle connections, the longest last; listed only so often.
        self._idle: list[Watched] = []
        self._list_from = 0.0
        self._timer: asyncio.TimerHandle | None = None
        ledger.metrics.watch_connections(self.__len__)

    def __len__(self) -> int:
        return len(self._connections)

    def enter(self, connection: Watched, loop: asyncio.AbstractEventLoop) -> None:
        """Look at a connection from now on."""
        self._connections.add(connection)
        if self._timer is None:
            self._timer = loop.call_later(INTERVAL_SECONDS, self._look, loop)

    def has_place(self, connection: Watched, now: float) -> bool:
        """Whether there is a place for this one too, if need be that of the longest idle one."""
        if len(self._connections) <= self.settings.max_connections:
            return True
        if not self._idle and now >= self._list_from:
            self._list_from = now + _LIST_SECONDS
            idle = [(one.idle_since, one) for one in self._connections]
            since = [(at, one) for at, one in idle if at is not None]
            self._idle = [one for _, one in sorted(since, key=lambda pair: -pair[0])]
        while self._idle:
            longest = self._idle.pop()
            if longest is not connection and longest.idle_since is not None:
                longest.end()
                return True
        return False

    def leave(self, connection: Watched) -> None:
        """Look no more; without connections there is no timer either."""
        self._connections.discard(connection)
        if not self._connections and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def refusal(
        self,
        refusal: Refusal,
        scope: Scope,
        seconds: float,
        dated: Sequence[Header],
    ) -> bytes:
        """The response that refuses a request of which this is known; counted."""
        problem = problem_of(refusal)
        account = Account()
        account.request_id = request_id = self._ids.of(dict(scope.get("headers", ())))
        body = problem.body(request_id)
        account.status, account.code = problem.status, problem.code
        account.answer_bytes = len(body)
        self._ledger.metrics.refused(problem.code)
        self._ledger.close(account, scope, seconds)
        lines = [
            *dated,
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            *[(name.lower().encode(), value.encode()) for name, value in problem.headers],
            (b"x-request-id", request_id.encode()),
            *STRICTEST,
        ]
        head = b"".join([b"%b: %b\r\n" % line for line in lines])
        return b"%b%b\r\n%b" % (STATUS_LINE[problem.status], head, body)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(INTERVAL_SECONDS, self._look, loop)
        now = loop.time()
        for connection in tuple(self._connections):
            connection.look(now)
        self._make_room()
        self._idle.clear()

    def _make_room(self) -> None:
        """Where answers wait for too many clients, part with those who take theirs slowest."""
        waiting = [one for one in self._connections if one.departure.unsent_bytes]
        leaving = sum(one.departure.unsent_bytes for one in waiting)
        if leaving <= self.settings.max_leaving_bytes:
            return
        for one in sorted(waiting, key=_speed):
            leaving -= one.departure.unsent_bytes
            one.cut()
            if leaving <= self.settings.max_leaving_bytes:
                return


def _speed(connection: Watched) -> float:
    departure = connection.departure
    return departure.moved_bytes / departure.unsent_bytes
