"""Rounds of requests, between which the event loop turns to all else."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from time import monotonic
from typing import Any, Generic, TypeVar

from gradwire_service.scheduling.bounds import overloaded
from gradwire_service.scheduling.shares import Shares

T = TypeVar("T")

#: Duration of a round, before the event loop turns to other events: ``/healthz``, deadlines,
#: requests of other clients. Longer, which costs less, where no other tenant has come for a while.
_ROUND_SECONDS, _ALONE_SECONDS, _WHILE_SECONDS = 0.001, 0.02, 1.0
#: The most requests that begin in a round after its time.
_MOST_AHEAD = 8
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
    the tenants that have taken the fewest seconds of the event loop come first. Only for the event
    loop.
    """

    def __init__(self, most_seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._most_seconds = most_seconds
        self._clock = clock
        #: The requests that wait.
        self.waiting = 0
        #: The requests of this round, and those beyond its time.
        self._taken = self._ahead = 0
        self._began = 0.0
        self._round_seconds = _ALONE_SECONDS
        self._expected_seconds = _REQUEST_SECONDS
        #: The tenant that came last, and since when no other one has.
        self._last, self._since = "", 0.0
        self._first: asyncio.Task[Any] | None = None
        self._shares = Shares()
        #: Those that wait, each until some time, in order of arrival for each tenant.
        self._waiting: dict[str, deque[tuple[float, asyncio.Future[None]]]] = {}

    async def serve(self, tenant: str, answer: Coroutine[Any, Any, T]) -> T:
        """Answer a request of a tenant when its turn comes.

        Raises: ``RequestError`` (overloaded) if that takes too long; what ``answer`` raises.
        """
        self._shares.enter(tenant)
        if tenant != self._last:
            self._last, self._since = tenant, self._clock()
            self._round_seconds = _ROUND_SECONDS
        try:
            if not self._fits(tenant):
                await self._turn(tenant)
        except BaseException:
            answer.close()
            self._shares.leave(tenant)
            raise
        timed = Timed(answer, self._clock)
        try:
            return await timed
        finally:
            took = min(timed.seconds, 2 * _ALONE_SECONDS)  # long streams are not like others
            self._expected_seconds += _LAST_WEIGHT * (took - self._expected_seconds)
            self._shares.correct(tenant, timed.seconds - _REQUEST_SECONDS)
            self._shares.leave(tenant)

    def _fits(self, tenant: str) -> bool:
        """True if a request is admitted in this round, which has time left."""
        task = asyncio.current_task()
        if not self._taken or task is self._first:  # one client, request after request
            self._taken, self._first, self._began = 1, task, self._clock()
            asyncio.get_running_loop().call_soon(self._end)
        else:
            if self._waiting or self._clock() - self._began > self._round_seconds:
                # Who has had no more than its share need not wait for those who have.
                if self._ahead == _MOST_AHEAD or not self._shares.is_due(tenant):
                    return False
                self._ahead += 1
            self._taken += 1
        self._shares.serve(tenant, _REQUEST_SECONDS)
        return True

    async def _turn(self, tenant: str) -> None:
        """Wait for a round with time left."""
        admitted = asyncio.get_running_loop().create_future()
        until = self._clock() + self._most_seconds
        self._waiting.setdefault(tenant, deque()).append((until, admitted))
        self.waiting += 1
        try:
            await admitted
        finally:
            self.waiting -= 1

    def _end(self) -> None:
        """End a round, and begin the next one with those that wait."""
        self._taken, self._ahead, self._first, self._began = 0, 0, None, self._clock()
        if self._began - self._since > _WHILE_SECONDS:
            self._round_seconds = _ALONE_SECONDS
        self._refuse_late()
        most = self._round_seconds / self._expected_seconds
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
