"""Admission of requests: those in flight, draining, and bursts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.scheduling.bounds import draining, overloaded
from gradwire_service.scheduling.queue import Queue
from gradwire_service.scheduling.shares import Shares

#: Duration of a round, and its minimum of requests, before the event loop turns to other events:
#: ``/healthz``, deadlines, disconnects.
_ROUND_SECONDS, _ROUND_REQUESTS = 0.05, 16
#: What a request is expected to take of the event loop.
_REQUEST_SECONDS = 0.0002


class Rounds:
    """Requests are admitted in rounds; between these the event loop handles everything else.

    What does not fit in its round waits. Then one at a time is admitted, next that of the tenant
    which has taken the fewest seconds of the event loop, before its body is received.
    """

    def __init__(self, most_seconds: float, clock: Callable[[], float]) -> None:
        self._most_seconds = most_seconds
        self._clock = clock
        self._taken = 0
        self._began = 0.0
        self._first: asyncio.Task[Any] | None = None
        self._shares = Shares()
        #: Those that wait, each until some time, in order of arrival for each tenant.
        self._waiting: dict[str, deque[tuple[float, asyncio.Future[None]]]] = {}

    def try_enter(self, tenant: str) -> bool:
        """Admit a request in this round if there is time left."""
        task = asyncio.current_task()
        if not self._taken or task is self._first:  # one client, request after request
            self._taken, self._first, self._began = 1, task, self._clock()
            asyncio.get_running_loop().call_soon(self._end)
        elif self._waiting or (
            self._taken >= _ROUND_REQUESTS and self._clock() - self._began > _ROUND_SECONDS
        ):
            return False
        else:
            self._taken += 1
        self._shares.enter(tenant)
        self._shares.serve(tenant, _REQUEST_SECONDS)
        return True

    async def wait(self, tenant: str) -> None:
        """Wait for a round with time left.

        Raises: ``RequestError`` (overloaded) if that takes too long.
        """
        admitted = asyncio.get_running_loop().create_future()
        until = self._clock() + self._most_seconds
        self._waiting.setdefault(tenant, deque()).append((until, admitted))
        self._shares.enter(tenant)
        try:
            await admitted
        except BaseException:
            self._shares.leave(tenant)
            raise

    def leave(self, tenant: str, seconds: float) -> None:
        """Count a request as finished that took so many seconds of the event loop."""
        self._shares.correct(tenant, seconds - _REQUEST_SECONDS)
        self._shares.leave(tenant)

    def _end(self) -> None:
        """End a round, and admit the next one that waits."""
        self._taken, self._first = 0, None
        now = self._clock()
        for tenant in sorted(self._waiting, key=self._shares.of):
            queue = self._waiting[tenant]
            while queue:
                until, admitted = queue[0]
                if admitted.done():  # its client has gone
                    queue.popleft()
                elif until < now:
                    queue.popleft()
                    admitted.set_exception(overloaded("too many requests arrived at once", 1))
                elif self._taken:
                    break
                else:
                    queue.popleft()
                    self._taken, self._began = 1, now
                    self._shares.serve(tenant, _REQUEST_SECONDS)
                    admitted.set_result(None)
            if not queue:
                del self._waiting[tenant]
        if self._taken:
            asyncio.get_running_loop().call_soon(self._end)


class Capacity:
    """The queue for work that is too long for the event loop, and the count of requests in flight.

    There is another queue for the GPU, if there is one. Only for the event loop.
    """

    def __init__(
        self, queue: Queue, gpu: Queue | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self.queue = queue
        self.gpu = gpu
        self.draining = False
        #: Why the service has to be replaced, if it has.
        self.fault = ""
        self.refusing = False
        self.in_flight = 0
        self._rounds = Rounds(queue.bounds.seconds, clock)

    async def enter(self, tenant: str) -> None:
        """Admit a request of a tenant when its turn comes.

        Raises: ``RequestError`` (draining) during shutdown; (overloaded) if more requests arrived
        at once than the event loop can admit in time.
        """
        if self.refusing:
            raise draining()
        self.in_flight += 1
        if not self._rounds.try_enter(tenant):
            try:
                await self._rounds.wait(tenant)
            except BaseException:
                self.in_flight -= 1
                raise

    def fail(self, fault: str) -> None:
        """Drain, because the service cannot go on as it should."""
        self.fault = self.fault or fault
        self.draining = True

    def leave(self, tenant: str, seconds: float = _REQUEST_SECONDS) -> None:
        """Count a request as finished that took so many seconds of the event loop."""
        self.in_flight -= 1
        self._rounds.leave(tenant, seconds)
