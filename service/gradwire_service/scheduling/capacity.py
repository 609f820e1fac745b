"""Admission of requests: those in flight, draining, and bursts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.scheduling.bounds import draining, overloaded
from gradwire_service.scheduling.queue import Queue

#: Duration of a round, and its minimum of requests, before the event loop turns to other events:
#: ``/healthz``, deadlines, disconnects.
_ROUND_SECONDS, _ROUND_REQUESTS = 0.05, 16


class Rounds:
    """Requests are admitted in rounds; between these the event loop handles everything else."""

    def __init__(self, most_seconds: float, clock: Callable[[], float]) -> None:
        self._most_seconds = most_seconds
        self._clock = clock
        self._taken = 0
        self._began = 0.0
        self._first: asyncio.Task[Any] | None = None

    def try_enter(self) -> bool:
        """Admit a request in this round if there is time left."""
        task = asyncio.current_task()
        if not self._taken or task is self._first:  # one client, request after request
            self._taken, self._first, self._began = 1, task, self._clock()
            asyncio.get_running_loop().call_soon(self._end)
            return True
        if self._taken >= _ROUND_REQUESTS and self._clock() - self._began > _ROUND_SECONDS:
            return False
        self._taken += 1
        return True

    async def wait(self) -> None:
        """Wait for a round with time left, in order of arrival.

        Raises: ``RequestError`` (overloaded) if that takes too long.
        """
        until = self._clock() + self._most_seconds
        while True:
            await asyncio.sleep(0)
            if self.try_enter():
                return
            if self._clock() > until:
                raise overloaded("too many requests arrived at once", 1)

    def _end(self) -> None:
        self._taken, self._first = 0, None


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

    async def enter(self) -> None:
        """Admit a request when its turn comes.

        Raises: ``RequestError`` (draining) during shutdown; (overloaded) if more requests arrived
        at once than the event loop can admit in time.
        """
        if self.refusing:
            raise draining()
        self.in_flight += 1
        if not self._rounds.try_enter():
            try:
                await self._rounds.wait()
            except BaseException:
                self.in_flight -= 1
                raise

    def fail(self, fault: str) -> None:
        """Drain, because the service cannot go on as it should."""
        self.fault = self.fault or fault
        self.draining = True

    def leave(self) -> None:
        """Count a request as finished."""
        self.in_flight -= 1
