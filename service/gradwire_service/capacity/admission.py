"""Who is let in: what is in flight, draining, and how much may come at once."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from gradwire_service.capacity.queue import Queue, draining, overloaded

#: Requests that come at once are all taken up one after the other before the event loop looks at
#: anything else: those for which that takes longer than this are refused, but never the first few.
_ROUND_SECONDS, _ROUND_REQUESTS = 0.05, 16


class Capacity:
    """Where work is done that is too long for the event loop, and the count of what is in flight.

    ``processes`` is where work goes that would hold the interpreter's lock, if there are any.
    Only on the event loop.
    """

    def __init__(self, threads: Queue, processes: Queue | None = None) -> None:
        self.threads = threads
        self.processes = processes
        self.draining = False
        self.refusing = False
        self.in_flight = 0
        #: How many requests were taken up since the event loop last looked round, and since when.
        self._in_round = 0
        self._round_began = 0.0
        self._round_task: asyncio.Task[Any] | None = None

    @property
    def queued(self) -> int:
        """Requests that wait for a thread or hold one."""
        return self.threads.requests + (self.processes.requests if self.processes else 0)

    def enter(self) -> None:
        """Count a request in.

        Raises: ``Refusal`` (draining) when this replica is about to stop; (overloaded) when more
        has come at once than the event loop gets through in time.
        """
        if self.refusing:
            raise draining()
        task = asyncio.current_task()
        self._in_round += 1
        if self._in_round == 1 or task is self._round_task:  # which asks one after the other
            self._in_round, self._round_task, self._round_began = 1, task, monotonic()
            asyncio.get_running_loop().call_soon(self._end_round)
        elif self._in_round > _ROUND_REQUESTS and monotonic() - self._round_began > _ROUND_SECONDS:
            raise overloaded(f"{self._in_round} requests have come at once", 1)
        self.in_flight += 1

    def leave(self) -> None:
        """Count a request out."""
        self.in_flight -= 1

    def close(self) -> None:
        """Let running work end and drop what still waits."""
        self.threads.close()
        if self.processes is not None:
            self.processes.close()

    def _end_round(self) -> None:
        self._in_round, self._round_task = 0, None
