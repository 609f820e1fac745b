"""A bounded queue of tasks, fair between owners."""

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
from gradwire_service.scheduling.job import (
    GRACE_SECONDS,
    TICK_SECONDS,
    Executor,
    GaveWay,
    Job,
    JobResult,
)
from gradwire_service.scheduling.lanes import SHORT_SECONDS, Lanes
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

    Queues with the same ``load`` are bounded together.

    Long-running tasks share their cores with others by the scheduler of the operating system, while
    there are executors. What waits begins in the order of the seconds that its owner has had. With
    ``lanes``, an executor is always free soon for short tasks, and for owners of whom nothing runs;
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
        self._running: dict[Executor, Job] = {}
        self._running_of = Counter[str]()
        #: Waiting and running tasks.
        self.requests = 0
        #: Expected seconds of work by owner.
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
        task: Any,
        deadline: Deadline,
        nbytes: int,
        *,
        owner: str = "",
        expected_seconds: float | None = None,
        home: str | None = None,
        long: bool = False,
        turns: int = 0,
        watch: Callable[[], Coroutine[Any, Any, NoReturn]] | None = None,
        on_progress: Callable[[Any], None] = lambda _: None,
    ) -> JobResult:
        """Run a task and wait for its answer. Cancelling the wait stops the task.

        It counts ``nbytes`` and the expected seconds, by default those of recent tasks. It
        runs on the executor of earlier tasks with the same ``home`` if that is idle. ``watch``
        raises when the answer is no longer needed. ``on_progress`` is called with what the work
        reports before its answer.
        Raises: ``RequestError`` (overloaded) at once if the queue is full, or too long for the
        deadline; later if the task is dropped for other owners' tasks, or has waited for too
        long; ``DeadlineExceeded`` at the deadline, even if the work does not poll it; the
        error of ``watch``; ``GaveWay``.
        """
        known = expected_seconds is not None
        expected = self._durations.seconds if expected_seconds is None else expected_seconds
        self._make_room(deadline, nbytes, owner)
        lanes = self._lanes
        long = long or (known and lanes is not None and expected >= lanes.short_seconds)
        lengths = known and expected < SHORT_SECONDS, long
        job = Job(
            *(task, deadline, owner, nbytes, expected, home, *lengths),
            self._clock,
            turns,
            on_progress,
        )
        self._count(job)
        self._waiting.add(job)
        job.start_timer()
        self._dispatch()
        watching = None if watch is None else asyncio.ensure_future(watch())
        if watching is not None:
            watching.add_done_callback(partial(_abandon, job))
        try:
            answer = await job.answer
        finally:
            if watching is not None:
                watching.cancel()
            job.stop_timer()
            self._leave(job)
        if not known:
            self._durations.learn(self._clock() - job.began_at)
        assert job.executor is not None
        return JobResult(answer, job.waited_seconds, job.executor)

    def check(self, deadline: Deadline, nbytes: int, owner: str) -> None:
        """Raises: ``RequestError`` (overloaded, draining) if no further task can be queued."""
        if self._closed:
            raise draining()
        if (error := self._limit_error(deadline, nbytes, owner)) is not None:
            raise error

    def close(self) -> Sequence[Executor]:
        """Refuse new tasks and drop waiting ones; returns the executors."""
        self._closed = True
        self.drop()
        return [*self._idle, *self._running]

    def drop(self) -> None:
        """Drop waiting tasks, as ``draining``."""
        for job in self._waiting.all():
            self._waiting.remove(job)
            self._fail(job, draining())

    def _count(self, job: Job, *, counted: bool = True) -> None:
        """Add a job to the totals of the queue, or remove it."""
        if job.counted == counted:
            return
        job.counted, sign = counted, 1 if counted else -1
        (self._shares.enter if counted else self._shares.leave)(job.owner)
        self.requests += sign
        self.load.requests += sign
        self.load.nbytes += sign * job.nbytes
        seconds = self._seconds.pop(job.owner, 0.0) + sign * job.expected_seconds
        if seconds > _NO_SECONDS:
            self._seconds[job.owner] = seconds

    def _fail(self, job: Job, error: BaseException) -> None:
        """Fail a job that has not started, or whose executor has ended."""
        self._count(job, counted=False)
        job.fail(error)

    def _leave(self, job: Job) -> None:
        """Remove a job that is no longer needed from the queue, or stop it."""
        if job.executor is None:
            if job.counted:
                self._waiting.remove(job)
                self._count(job, counted=False)
            return
        if self._running.get(job.executor) is not job:
            return
        if job.late:
            job.executor.kill()
            return
        job.deadline.cancel()
        job.executor.stop()
        loop = asyncio.get_running_loop()
        loop.call_later(GRACE_SECONDS, self._kill, job)

    def _kill(self, job: Job) -> None:
        """Kill the executor of a job that has not stopped."""
        if job.executor is not None and self._running.get(job.executor) is job:
            job.executor.kill()

    def _dispatch(self) -> None:
        """Start the tasks that may start."""
        now = self._clock()
        while self._waiting and self._idle and not self._closed:
            began = [job.began_at for job in self._running.values() if not job.long]
            recent = [at for at in began if now - at < LONG_SECONDS]
            if len(recent) >= self._cores:
                self._dispatch_in(min(recent) + LONG_SECONDS - now)
                return
            job = self._waiting.take(self._may_begin)
            if job is None:
                break
            if job.answer.done():  # just now: deadline passed, or client disconnected
                self._count(job, counted=False)
                continue
            error = self._too_late(job)
            if error is None:
                self._begin(job)
            else:
                self._fail(job, error)
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

    def _may_begin(self, job: Job) -> bool:
        return self._lanes is None or self._lanes.may_begin(job, [*self._running.values()])

    def _take_turns(self) -> None:
        """Have a long task give way to an owner that waits while nothing of it runs."""
        waiting = self._waiting.owners() - self._running_of.keys()
        running = [*self._running.values()]
        if not waiting or self._lanes is None or any(job.answer.done() for job in running):
            return  # or one is giving way already
        found = self._lanes.next_to_give_way(running, self._shares)
        if found is not None:
            job, seconds = found
            if seconds > 0:
                self._dispatch_in(seconds)
            else:
                job.fail(GaveWay(job.turns + 1))

    def _turn_long(self, job: Job) -> None:
        """Count a job as long, or take it off its executor."""
        if job.executor is None or self._running.get(job.executor) is not job:
            return
        assert self._lanes is not None
        others = [other for other in self._running.values() if other is not job]
        if self._lanes.may_be_long(job, others):
            job.long = True
            self._dispatch()
        else:
            job.fail(GaveWay(job.turns))

    def _begin(self, job: Job) -> None:
        executor = self._homes.get(job.home) if job.home is not None else None
        if executor is None or executor not in self._idle:
            executor = self._idle[-1]
        self._idle.remove(executor)
        if job.home is not None:
            self.remember(job.home, executor)
        job.executor = executor
        job.began_at = self._clock()
        self._running[executor] = job
        self._running_of[job.owner] += 1
        self._waited(job.waited_seconds)
        self._shares.serve(job.owner, job.expected_seconds)
        if self._lanes is not None and not job.long:
            loop = asyncio.get_running_loop()
            loop.call_later(self._lanes.short_seconds, self._turn_long, job)

        def on_answer(answer: Any) -> None:
            del self._running[executor]
            self._running_of[job.owner] -= 1
            if not self._running_of[job.owner]:
                del self._running_of[job.owner]
            self._shares.correct(job.owner, job.ran_seconds - job.expected_seconds)
            self._count(job, counted=False)
            if executor.alive:
                self._idle.append(executor)
            if isinstance(answer, BaseException):
                self._fail(job, answer)
            elif not job.answer.done():
                job.answer.set_result(answer)
            self._dispatch()

        executor.begin(job.task, on_answer, job.on_progress)

    def remember(self, home: str, executor: Executor) -> None:
        """Prefer ``executor`` for tasks of ``home`` from now on."""
        self._homes[home] = executor
        self._homes.move_to_end(home)
        if len(self._homes) > _MOST_HOMES:
            self._homes.popitem(last=False)

    def _wait_seconds(self, owner: str) -> float:
        """The expected wait of an owner's next task: owners are served in turn."""
        return self._seconds.get(owner, 0.0) * len(self._seconds) / self._cores

    def _make_room(self, deadline: Deadline, nbytes: int, owner: str) -> None:
        """Refuse a task beyond the limits, or drop one of an owner with more waiting tasks."""
        if self._closed:
            raise draining()
        while (error := self._limit_error(deadline, nbytes, owner)) is not None:
            last = self._waiting.longest()
            if last is None or last.owner == owner:
                raise error
            if self._waiting.count_of(owner) >= self._waiting.count_of(last.owner) - 1:
                raise error
            self._waiting.remove(last)
            retry_seconds = self._retry_seconds(last.owner)
            self._fail(last, overloaded("dropped to make room for another tenant", retry_seconds))

    def _limit_error(self, deadline: Deadline, nbytes: int, owner: str) -> RequestError | None:
        """The error if no further task can be queued, else None."""
        load = self.load
        if self.requests < self._cores and load.nbytes + nbytes <= self.bounds.nbytes:
            return None
        wait_seconds = self._wait_seconds(owner)
        full = self.requests >= self._cores and not self._begins_soon(owner)
        if (
            load.requests >= load.cores + self.bounds.requests
            or (load.requests and load.nbytes + nbytes > self.bounds.nbytes)
            or (full and wait_seconds > self.bounds.seconds)
        ):
            detail = f"{load.requests} requests are waiting or running"
            return overloaded(detail, self._retry_seconds(owner))
        if full and wait_seconds > deadline.remaining_seconds() > 0:
            detail = (
                f"the queue is {wait_seconds:.1f} s long, more than the time left for the request"
            )
            return overloaded(detail, self._retry_seconds(owner))
        return None

    def _begins_soon(self, owner: str) -> bool:
        """True if an executor is free as soon as the running tasks are long-running."""
        kept = 1 if self._running_of[owner] else 0
        return not self._waiting and len(self._idle) > kept

    def _too_late(self, job: Job) -> RequestError | None:
        """The error if a job has waited too long to be started, else None."""
        if job.waited_seconds <= _LATEST_PART * self.bounds.seconds:
            return None
        detail = f"the request waited too long in the queue: {job.waited_seconds:.1f} s"
        return overloaded(detail, self._retry_seconds(job.owner))

    def _retry_seconds(self, owner: str) -> int:
        """Seconds until an owner's queued tasks will be done."""
        return min(math.ceil(self._wait_seconds(owner)) or 1, _LONGEST_RETRY_SECONDS)


def _abandon(job: Job, watching: asyncio.Future[NoReturn]) -> None:
    """Fail a job with the error of its ``watch``."""
    if not watching.cancelled() and (error := watching.exception()) is not None:
        job.fail(error)
