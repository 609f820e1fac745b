"""Limits on all connections of a process: their number, their sizes, and one timer."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address, ip_network
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.telemetry import ProblemMiddleware, RequestMiddleware, RequestRecorder

if TYPE_CHECKING:
    from gradwire_service.http.connection import HttpConnection

#: Interval of checking connections: no request starts or stops a timer.
INTERVAL_SECONDS = 0.25
#: Connections beyond the most that are answered: with health, or that there are too many. Of more,
#: the oldest are cut.
MAX_RESERVED = 64
#: What is answered on those: a client that fills all others does not hide whether this one lives.
HEALTH = frozenset(("/healthz", "/readyz"))
_LIST_SECONDS = 0.02
#: A connection that has been idle for less is not closed for another: its next request, or its
#: first, may be on the way.
_SPARED_SECONDS = 2.0
#: Connections that are checked between other events: to refuse one takes 0.3 ms.
_PIECE = 8
#: Connections of an address of which one that sends a body is cut.
_LATEST = 64
_ip = lru_cache(maxsize=4096)(ip_address)


class ConnectionLimiter:
    """Checks all connections, and ends some where they are too many or hold too much."""

    def __init__(
        self,
        settings: Settings,
        recorder: RequestRecorder,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.settings = settings
        self.clock = clock
        #: Bytes of bodies that are not complete.
        self.arriving_bytes = 0
        #: Answers what is refused before it is a request.
        self.refused = RequestMiddleware(ProblemMiddleware(_refused, recorder.metrics), recorder)
        self._connections: set[HttpConnection] = set()
        #: The connections of each address, in the order in which they came.
        self._of_address: dict[str, dict[HttpConnection, None]] = defaultdict(dict)
        self._proxies = [ip_network(place) for place in settings.proxies]
        #: Connections beyond the most, the oldest first.
        self._reserved: dict[HttpConnection, None] = {}
        #: Idle connections, the longest idle last; listed only so often.
        self._idle: list[HttpConnection] = []
        self._list_from = 0.0
        self._timer: asyncio.TimerHandle | None = None
        recorder.metrics.watch_connections(self.__len__)

    def __len__(self) -> int:
        return len(self._connections)

    def enter(self, connection: HttpConnection) -> None:
        """Take in a connection, in the place of another one if there are too many.

        That is the longest idle one, or one of the address that has most, but never one of an
        address that has fewer.
        """
        self._connections.add(connection)
        self._of_address[connection.address][connection] = None
        if self._timer is None:
            self._check_later()
        most = self.settings.max_connections
        if len(self) - len(self._reserved) <= most or self._end_idle(connection, self.clock()):
            return
        if not self._end_one_of_most(connection.address):
            self._reserved[connection] = None
            if len(self._reserved) > MAX_RESERVED:
                next(iter(self._reserved)).cut()

    def check_place(self, connection: HttpConnection, path: str) -> None:
        """Raises: ``RequestError`` (overloaded) for all but health on a reserved connection."""
        if connection in self._reserved and path not in HEALTH:
            detail = f"all {self.settings.max_connections} connections are in use"
            raise RequestError("overloaded", detail, retry_after_seconds=1)

    def is_reserved(self, connection: HttpConnection) -> bool:
        """True if a connection is one beyond the most."""
        return connection in self._reserved

    def leave(self, connection: HttpConnection) -> None:
        """Forget a connection; without any there is no timer either."""
        self._connections.discard(connection)
        self._reserved.pop(connection, None)
        of_address = self._of_address[connection.address]
        of_address.pop(connection, None)
        if not of_address:
            del self._of_address[connection.address]
        if not self._connections and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_idle(self, new: HttpConnection, now: float) -> bool:
        """Close the longest idle connection, of those whose address has as many as that of ``new``.

        They are listed only so often.
        """
        if not self._idle and now >= self._list_from:
            self._list_from = now + _LIST_SECONDS
            since = [(one.idle_since, one) for one in self._connections if one is not new]
            latest = now - _SPARED_SECONDS
            idle = [(at, one) for at, one in since if at is not None and at <= latest]
            self._idle = [one for _, one in sorted(idle, key=lambda pair: -pair[0])]
        count = len(self._of_address[new.address])
        for place in range(len(self._idle) - 1, -1, -1):
            longest = self._idle[place]
            if longest.idle_since is None:
                del self._idle[place]
            elif len(self._of_address[longest.address]) >= count:
                del self._idle[place]
                longest.transport.close()
                return True
        return False

    def _end_one_of_most(self, address: str) -> bool:
        """Cut a connection of the address that has most, if that is two more than ``address`` has.

        It is one of the last that came, of those that send a body if there are any: little is lost.
        Proxies have many clients.
        """
        if self._is_proxy(address):
            return False
        most, least = address, len(self._of_address[address]) + 2
        for other, held in self._of_address.items():
            if len(held) >= least and not self._is_proxy(other):
                most, least = other, len(held) + 1
        if most == address:
            return False
        latest = [*islice(reversed(self._of_address[most]), _LATEST)]
        next((one for one in latest if one.is_receiving), latest[0]).cut()
        return True

    def _is_proxy(self, address: str) -> bool:
        return not address or any(_ip(address) in network for network in self._proxies)

    def check(self) -> None:
        """End the connections of clients that are late."""
        self._check(deque(self._connections), len(self._connections))
        self._cut_slowest()
        self._idle.clear()

    def _check_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(INTERVAL_SECONDS, self._check_again)

    def _check_again(self) -> None:
        self._check_later()
        self._check_some(deque(self._connections))

    def _check_some(self, left: deque[HttpConnection]) -> None:
        """Check a few, and the others after other events: they may be late all at once."""
        self._check(left, _PIECE)
        if left:
            asyncio.get_running_loop().call_soon(self._check_some, left)
        else:
            self._cut_slowest()
            self._idle.clear()

    def _check(self, left: deque[HttpConnection], most: int) -> None:
        now = self.clock()
        for _ in range(min(most, len(left))):
            left.popleft().check(now)

    def _cut_slowest(self) -> None:
        """Cut the clients that read responses most slowly, while several hold too much.

        A single answer that is allowed can always be sent.
        """
        unsent = sum(one.write_rate.unsent_bytes for one in self._connections)
        if unsent <= self.settings.max_leaving_bytes:
            return
        waiting = [one for one in self._connections if one.write_rate.unsent_bytes]
        for one in sorted(waiting, key=_share_taken)[:-1]:
            one.cut()
            unsent -= one.write_rate.unsent_bytes
            if unsent <= self.settings.max_leaving_bytes:
                return


def _share_taken(connection: HttpConnection) -> float:
    rate = connection.write_rate
    return rate.taken_bytes / rate.unsent_bytes


async def _refused(scope: Scope, receive: Receive, send: Send) -> None:
    raise scope["refusal"]
