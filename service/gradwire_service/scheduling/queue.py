"""A bounded queue of tasks, fair between tenants."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, NoReturn

from gradwire_service.problems import RequestError
from gradwire_service.scheduling.bounds import Bounds, DurationEstimate, draining, overloaded
from gradwire_service.scheduling.deadline import Deadline
from gradwire_service.scheduling.fair_queue import FairQueue
from gradwire_service.scheduling.lanes import SHORT_SECONDS, Lanes
from gradwire_service.scheduling.queued_task import (
    GRACE_SECONDS,
    TICK_SECONDS,
    Executor,
    GaveWay,
    QueuedTask,
    QueueResult,
)
from gradwire_service.scheduling.shares import Shares

#: After this time, a task no longer counts as occupying a core: another may start beside it.
LONG_SECONDS = 0.25
#: Tolerance for rounding in sums of seconds.
_NO_SECONDS = 1e-9
_LONGEST_RETRY_SECONDS = 60
#: After this part of the longest wait a task is not started: it takes a while itself.
_LATEST_PART = 0.9
#: Maximum homes whose executors are remembered.
_MOST_HOMES = 10_000


@dataclass(slots=True)
class Load:
    """Waiting and running tasks of queues that share bounds, and how many may run at once."""

    cores: int = 0
    requests: int = 0
    nbytes: int = 0


class Queue:
    """Hands tasks to executors: ``cores`` at a time, not counting long-running ones.

    One more may begin, of a tenant of whom nothing runs: it does not wait for those of others.

    Queues with the same ``load`` are bounded together.

    Long-running tasks share their cores with others by the scheduler of the operating system, while
    there are executors. What waits begins in the order of the seconds that its tenant has had. With
    ``lanes``, an executor is soon free for short tasks, and for tenants of whom nothing runs;
    without, all executors are for all tasks. Only for the event loop.
    """

    def __init__(
        self,
        cores: int,
        bounds: Bounds,
        waited: Callable[[float], None] = lambda _: None,
        load: Load | None = None,
        clock: Callable[[], float] = monotonic,
        lanes: Lanes | None = None,
    ) -> None:
        self._cores = cores
        self._lanes = lanes
        self.bounds = bounds
        self.load = Load() if load is None else load
        self.load.cores += cores
        self._waited = waited
        self._clock = clock
        self._idle: list[Executor] = []
        self._shares = Shares()
        self._waiting = FairQueue(self._shares)
        self._running: dict[Executor, QueuedTask] = {}
        self._running_of = Counter[str]()
        #: Waiting and running tasks.
        self.requests = 0
        #: Expected seconds of work by tenant.
        self._seconds: dict[str, float] = {}
        self._durations = DurationEstimate()
        self._homes: OrderedDict[str, Executor] = OrderedDict()
        self._wakeup: asyncio.TimerHandle | None = None
        self._closed = False

    def add(self, executor: Executor) -> None:
        """Add an executor."""
        self._idle.append(executor)
        self._dispatch()

    def discard(self, executor: Executor) -> None:
        """Remove an executor that has ended."""
        if executor in self._idle:
            self._idle.remove(executor)

    async def run(
        self,
        message: Any,
        deadline: Deadline,
        nbytes: int,
        *,
        tenant: str = "",
        expected_seconds: float | None = None,
        home: str | None = None,
        long: bool = False,
        turns: int = 0,
        watch: Callable[[], Coroutine[Any, Any, NoReturn]] | None = None,
        on_progress: Callable[[Any], None] = lambda _: None,
    ) -> QueueResult:
        """Run a task and wait for its answer. Cancelling the wait stops the task.

        It counts ``nbytes`` and the expected seconds, by default those of recent tasks. It
        runs on the executor of earlier tasks with the same ``home`` if that is idle. ``watch``
        raises when the answer is no longer needed. ``on_progress`` is called with what the work
        reports before its answer.
        Raises: ``RequestError`` (overloaded) at once if the queue is full, or too long for the
        deadline; later if the task is dropped for other tenants' tasks, or has waited for too
        long; ``DeadlineExceeded`` at the deadline, even if the work does not poll it; the
        error of ``watch``; ``GaveWay``.
        """
        known = expected_seconds is not None
        expected = self._durations.seconds if expected_seconds is None else expected_seconds
        self._evict_waiting(deadline, nbytes, tenant)
        lanes = self._lanes
        long = long or (known and lanes is not None and expected >= lanes.short_seconds)
        lengths = known and expected < SHORT_SECONDS, long
        task = QueuedTask(
            *(message, deadline, tenant, nbytes, expected, home, *lengths),
            self._clock,
            turns,
            on_progress,
        )
        self._count(task)
        self._waiting.add(task)
        task.start_timer()
        self._dispatch()
        watching = None if watch is None else asyncio.ensure_future(watch())
        if watching is not None:
            watching.add_done_callback(partial(_abandon, task))
        try:
            answer = await task.answer
        finally:
            if watching is not None:
                watching.cancel()
            task.stop_timer()
            self._leave(task)
        if not known:
            self._durations.learn(self._clock() - task.began_at)
        assert task.executor is not None
        return QueueResult(answer, task.waited_seconds, task.executor)

    def check(self, deadline: Deadline, nbytes: int, tenant: str) -> None:
        """Raises: ``RequestError`` (overloaded, draining) if no further task can be queued."""
        if self._closed:
            raise draining()
        if (error := self._limit_error(deadline, nbytes, tenant)) is not None:
            raise error

    def close(self) -> Sequence[Executor]:
        """Refuse new tasks and drop waiting ones; returns the executors."""
        self._closed = True
        self.drop()
        return [*self._idle, *self._running]

    def drop(self) -> None:
        """Drop waiting tasks, as ``draining``."""
        for task in self._waiting.all():
            self._waiting.remove(task)
            self._fail(task, draining())

    def _count(self, task: QueuedTask, *, counted: bool = True) -> None:
        """Add a task to the totals of the queue, or remove it."""
        if task.counted == counted:
            return
        task.counted, sign = counted, 1 if counted else -1
        (self._shares.enter if counted else self._shares.leave)(task.tenant)
        self.requests += sign
        self.load.requests += sign
        self.load.nbytes += sign * task.nbytes
        seconds = self._seconds.pop(task.tenant, 0.0) + sign * task.expected_seconds
        if seconds > _NO_SECONDS:
            self._seconds[task.tenant] = seconds

    def _fail(self, task: QueuedTask, error: BaseException) -> None:
        """Fail a task that has not started, or whose executor has ended."""
        self._count(task, counted=False)
        task.fail(error)

    def _leave(self, task: QueuedTask) -> None:
        """Remove a task that is no longer needed from the queue, or stop it."""
        if task.executor is None:
            if task.counted:
                self._waiting.remove(task)
                self._count(task, counted=False)
            return
        if self._running.get(task.executor) is not task:
            return
        if task.late:
            task.executor.kill()
            return
        task.deadline.cancel()
        task.executor.stop()
        loop = asyncio.get_running_loop()
        loop.call_later(GRACE_SECONDS, self._kill, task)

    def _kill(self, task: QueuedTask) -> None:
        """Kill the executor of a task that has not stopped."""
        if task.executor is not None and self._running.get(task.executor) is task:
            task.executor.kill()

    def _dispatch(self) -> None:
        """Start the tasks that may start."""
        now = self._clock()
        while self._waiting and self._idle and not self._closed:
            began = [task.began_at for task in self._running.values() if not task.long]
            recent = [at for at in began if now - at < LONG_SECONDS]
            free = self._cores - len(recent)
            task = None
            if free >= 0:  # one more may begin, of a tenant of whom nothing runs
                task = self._waiting.take(self._may_begin if free else self._may_begin_beside)
            if task is None and free <= 0:
                self._dispatch_in(min(recent) + LONG_SECONDS - now)
                return
            if task is None:
                break
            if task.answer.done():  # just now: deadline passed, or client disconnected
                self._count(task, counted=False)
                continue
            error = self._queue_timeout(task)
            if error is None:
                self._begin(task)
            else:
                self._fail(task, error)
        if self._waiting and not self._closed:
            self._take_turns()

    def _dispatch_in(self, seconds: float) -> None:
        """Dispatch again when a task becomes long-running; one timer serves all waiting tasks."""
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds + TICK_SECONDS
        if self._wakeup is not None:
            if self._wakeup.when() <= at:
                return
            self._wakeup.cancel()
        self._wakeup = loop.call_at(at, self._wake_up)

    def _wake_up(self) -> None:
        self._wakeup = None
        self._dispatch()

    def _may_begin(self, task: QueuedTask) -> bool:
        return self._lanes is None or self._lanes.may_begin(task, [*self._running.values()])

    def _may_begin_beside(self, task: QueuedTask) -> bool:
        return task.tenant not in self._running_of and self._may_begin(task)

    def _take_turns(self) -> None:
        """Have a long task give way to a tenant that waits while nothing of it runs."""
        waiting = self._waiting.tenants() - self._running_of.keys()
        running = [*self._running.values()]
        if not waiting or self._lanes is None or any(task.answer.done() for task in running):
            return  # or one is giving way already
        found = self._lanes.next_to_give_way(running, self._shares)
        if found is not None:
            task, seconds = found
            if seconds > 0:
                self._dispatch_in(seconds)
            else:
                task.fail(GaveWay(task.turns + 1))

    def _turn_long(self, task: QueuedTask) -> None:
        """Count a task as long, or take it off its executor."""
        if task.executor is None or self._running.get(task.executor) is not task:
            return
        assert self._lanes is not None
        others = [other for other in self._running.values() if other is not task]
        if self._lanes.may_be_long(task, others):
            task.long = True
            self._dispatch()
        else:
            task.fail(GaveWay(task.turns))

    def _begin(self, task: QueuedTask) -> None:
        executor = self._homes.get(task.home) if task.home is not None else None
        if executor is None or executor not in self._idle:
            executor = self._idle[-1]
        self._idle.remove(executor)
        if task.home is not None:
            self.remember(task.home, executor)
        task.executor = executor
        task.began_at = self._clock()
        self._running[executor] = task
        self._running_of[task.tenant] += 1
        self._waited(task.waited_seconds)
        self._shares.serve(task.tenant, task.expected_seconds)
        if self._lanes is not None and not task.long:
            loop = asyncio.get_running_loop()
            loop.call_later(self._lanes.short_seconds, self._turn_long, task)

        def on_answer(answer: Any) -> None:
            del self._running[executor]
            self._running_of[task.tenant] -= 1
            if not self._running_of[task.tenant]:
                del self._running_of[task.tenant]
            self._shares.correct(task.tenant, task.ran_seconds - task.expected_seconds)
            self._count(task, counted=False)
            if executor.alive:
                self._idle.append(executor)
            if isinstance(answer, BaseException):
                self._fail(task, answer)
            elif not task.answer.done():
                task.answer.set_result(answer)
            self._dispatch()

        executor.begin(task.message, on_answer, task.on_progress)

    def remember(self, home: str, executor: Executor) -> None:
        """Prefer ``executor`` for tasks of ``home`` from now on."""
        self._homes[home] = executor
        self._homes.move_to_end(home)
        if len(self._homes) > _MOST_HOMES:
            self._homes.popitem(last=False)

    def _wait_seconds(self, tenant: str) -> float:
        """The expected wait of a tenant's next task: tenants are served in turn."""
        return self._seconds.get(tenant, 0.0) * len(self._seconds) / self._cores

    def _evict_waiting(self, deadline: Deadline, nbytes: int, tenant: str) -> None:
        """Refuse a task beyond the limits, or drop one of a tenant with more waiting tasks."""
        if self._closed:
            raise draining()
        while (error := self._limit_error(deadline, nbytes, tenant)) is not None:
            last = self._waiting.longest()
            if last is None or last.tenant == tenant:
                raise error
            if self._waiting.count_of(tenant) >= self._waiting.count_of(last.tenant) - 1:
                raise error
            self._waiting.remove(last)
            retry_seconds = self._retry_seconds(last.tenant)
            self._fail(last, overloaded("dropped to make room for another tenant", retry_seconds))

    def _limit_error(self, deadline: Deadline, nbytes: int, tenant: str) -> RequestError | None:
        """The error if no further task can be queued, else None."""
        load = self.load
        if self.requests < self._cores and load.nbytes + nbytes <= self.bounds.nbytes:
            return None
        wait_seconds = self._wait_seconds(tenant)
        full = self.requests >= self._cores and not self._expects_free_executor(tenant)
        if (
            load.requests >= load.cores + self.bounds.requests
            or (load.requests and load.nbytes + nbytes > self.bounds.nbytes)
            or (full and wait_seconds > self.bounds.seconds)
        ):
            detail = f"{load.requests} requests are waiting or running"
            return overloaded(detail, self._retry_seconds(tenant))
        if full and wait_seconds > deadline.remaining_seconds() > 0:
            detail = (
                f"the queue is {wait_seconds:.1f} s long, more than the time left for the request"
            )
            return overloaded(detail, self._retry_seconds(tenant))
        return None

    def _expects_free_executor(self, tenant: str) -> bool:
        """True if an executor is free as soon as the running tasks are long-running."""
        kept = 1 if self._running_of[tenant] else 0
        return not self._waiting and len(self._idle) > kept

    def _queue_timeout(self, task: QueuedTask) -> RequestError | None:
        """The error if a task has waited too long to be started, else None."""
        if task.waited_seconds <= _LATEST_PART * self.bounds.seconds:
            return None
        detail = f"the request waited too long in the queue: {task.waited_seconds:.1f} s"
        return overloaded(detail, self._retry_seconds(task.tenant))

    def _retry_seconds(self, tenant: str) -> int:
        """Seconds until a tenant's queued tasks will be done."""
        return min(math.ceil(self._wait_seconds(tenant)) or 1, _LONGEST_RETRY_SECONDS)


def _abandon(task: QueuedTask, watching: asyncio.Future[NoReturn]) -> None:
    """Fail a task with the error of its ``watch``."""
    if not watching.cancelled() and (error := watching.exception()) is not None:
        task.fail(error)
