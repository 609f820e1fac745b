"""Admission of requests: those in flight, draining, and bursts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from time import monotonic
from typing import Any, Generic, TypeVar

from gradwire_service.scheduling.bounds import draining, overloaded
from gradwire_service.scheduling.queue import Queue
from gradwire_service.scheduling.shares import Shares

T = TypeVar("T")

#: Duration of a round, before the event loop turns to other events: ``/healthz``, deadlines,
#: requests of other clients.
_ROUND_SECONDS = 0.002
#: What a request is expected to take of the event loop before any has ended, and the weight of the
#: last one in what is expected then.
_REQUEST_SECONDS, _LAST_WEIGHT = 0.0002, 0.05


class Timed(Generic[T]):
    """Awaits a coroutine, and adds up the seconds that it takes of the event loop."""

    __slots__ = ("_clock", "_coroutine", "seconds")

    def __init__(self, coroutine: Coroutine[Any, Any, T], clock: Callable[[], float]) -> None:
        self._coroutine, self._clock, self.seconds = coroutine, clock, 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        step: Callable[[Any], Any] = self._coroutine.send
        given: Any = None
        while True:
            begin = self._clock()
            try:
                awaited = step(given)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            finally:
                self.seconds += self._clock() - begin
            try:
                step, given = self._coroutine.send, (yield awaited)
            except BaseException as error:  # noqa: BLE001 - the coroutine handles it
                step, given = self._coroutine.throw, error


class Rounds:
    """Requests are admitted in rounds; between these the event loop handles everything else.

    What does not fit in its round waits for another one, before its body is received. Those of
    the tenants that have taken the fewest seconds of the event loop come first.
    """

    def __init__(self, most_seconds: float, clock: Callable[[], float]) -> None:
        self._most_seconds = most_seconds
        self._clock = clock
        self._taken = 0
        self._began = 0.0
        self._expected_seconds = _REQUEST_SECONDS
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
        elif self._waiting or self._clock() - self._began > _ROUND_SECONDS:
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
        self._expected_seconds += _LAST_WEIGHT * (seconds - self._expected_seconds)
        self._shares.correct(tenant, seconds - _REQUEST_SECONDS)
        self._shares.leave(tenant)

    def _end(self) -> None:
        """End a round, and begin the next one with those that wait."""
        self._taken, self._first, self._began = 0, None, self._clock()
        self._refuse_late()
        most = _ROUND_SECONDS / self._expected_seconds
        while self._waiting and (not self._taken or self._taken < most):
            tenant = min(self._waiting, key=self._shares.of)
            queue = self._waiting[tenant]
            _, admitted = queue.popleft()
            if not queue:
                del self._waiting[tenant]
            if not admitted.done():  # else its client has gone
                self._taken += 1
                self._shares.serve(tenant, _REQUEST_SECONDS)
                admitted.set_result(None)
        if self._taken:
            asyncio.get_running_loop().call_soon(self._end)

    def _refuse_late(self) -> None:
        """Refuse those that have waited for too long."""
        for tenant, queue in [*self._waiting.items()]:
            while queue and queue[0][0] < self._began:
                _, admitted = queue.popleft()
                if not admitted.done():
                    admitted.set_exception(overloaded("too many requests arrived at once", 1))
            if not queue:
                del self._waiting[tenant]


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
        self._clock = clock
        self._rounds = Rounds(queue.bounds.seconds, clock)

    async def serve(self, tenant: str, answer: Coroutine[Any, Any, T]) -> T:
        """Answer a request of a tenant when its turn comes.

        Raises: ``RequestError`` (draining) during shutdown; (overloaded) if more requests arrived
        at once than the event loop can admit in time; what ``answer`` raises.
        """
        try:
            await self._enter(tenant)
        except BaseException:
            answer.close()
            raise
        timed = Timed(answer, self._clock)
        try:
            return await timed
        finally:
            self.in_flight -= 1
            self._rounds.leave(tenant, timed.seconds)

    def fail(self, fault: str) -> None:
        """Drain, because the service cannot go on as it should."""
        self.fault = self.fault or fault
        self.draining = True

    async def _enter(self, tenant: str) -> None:
        if self.refusing:
            raise draining()
        self.in_flight += 1
        if not self._rounds.try_enter(tenant):
            try:
                await self._rounds.wait(tenant)
            except BaseException:
                self.in_flight -= 1
                raise
