"""Requests in flight, draining, and the queues for what is too long for the event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from gradwire_service.scheduling.bounds import draining
from gradwire_service.scheduling.queue import Queue
from gradwire_service.scheduling.rounds import Rounds

T = TypeVar("T")


class Capacity:
    """The queue for work that is too long for the event loop, and the count of requests in flight.

    There is another queue for the GPU, if there is one. Only for the event loop.
    """

    def __init__(
        self, queue: Queue, gpu: Queue | None = None, rounds: Rounds | None = None
    ) -> None:
        self.queue = queue
        self.gpu = gpu
        self.draining = False
        #: Why the service has to be replaced, if it has.
        self.fault = ""
        self.refusing = False
        self._served = 0
        self._rounds = rounds

    @property
    def in_flight(self) -> int:
        """The requests for tasks that are answered, and all that wait for their turn."""
        return self._served + (0 if self._rounds is None else self._rounds.waiting)

    async def serve(self, answer: Coroutine[Any, Any, T]) -> T:
        """Answer a request.

        Raises: ``RequestError`` (draining) during shutdown; what ``answer`` raises.
        """
        if self.refusing:
            answer.close()
            raise draining()
        self._served += 1
        try:
            return await answer
        finally:
            self._served -= 1

    def fail(self, fault: str) -> None:
        """Drain, because the service cannot go on as it should."""
        self.fault = self.fault or fault
        self.draining = True
