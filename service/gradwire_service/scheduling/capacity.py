"""Who is let in: what is in flight, draining, and how much may come at once."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from gradwire_service.scheduling.bounds import draining, overloaded
from gradwire_service.scheduling.queue import Queue

#: How long the event loop takes up requests that have come at once, and how many at least, before
#: it looks at anything else: at ``/healthz``, at deadlines, at who has gone.
_ROUND_SECONDS, _ROUND_REQUESTS = 0.05, 16


class Rounds:
    """Requests are taken up in rounds; in between the event loop looks at everything else."""

    def __init__(self, most_seconds: float) -> None:
        self._most_seconds = most_seconds
        self._taken = 0
        self._began = 0.0
        self._first: asyncio.Task[Any] | None = None

    def try_enter(self) -> bool:
        """Take a request up in this round, if there is time."""
        task = asyncio.current_task()
        if not self._taken or task is self._first:  # which asks one after the other
            self._taken, self._first, self._began = 1, task, monotonic()
            asyncio.get_running_loop().call_soon(self._end)
            return True
        if self._taken >= _ROUND_REQUESTS and monotonic() - self._began > _ROUND_SECONDS:
            return False
        self._taken += 1
        return True

    async def wait(self) -> None:
        """Wait for a round with time, in the order of coming.

        Raises: ``Refusal`` (overloaded) where that takes too long.
        """
        until = monotonic() + self._most_seconds
        while True:
            await asyncio.sleep(0)
            if self.try_enter():
                return
            if monotonic() > until:
                raise overloaded("too many requests have come at once", 1)

    def _end(self) -> None:
        self._taken, self._first = 0, None


class Capacity:
    """The queue for what is too long for the event loop, and the count of what is in flight.

    Only on the event loop.
    """

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.draining = False
        self.refusing = False
        self.in_flight = 0
        self._rounds = Rounds(queue.bounds.seconds)

    @property
    def queued(self) -> int:
        """Requests that wait for an executor or have one."""
        return self.queue.requests

    async def enter(self) -> None:
        """Count a request in, when it is its turn.

        Raises: ``Refusal`` (draining) when this replica is about to stop; (overloaded) when more
        has come at once than the event loop gets through in time.
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

    def leave(self) -> None:
        """Count a request out."""
        self.in_flight -= 1
