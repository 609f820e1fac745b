"""Which task runs when, and what is refused: a bounded queue, fair between owners."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from time import monotonic
from typing import Any, NoReturn

from gradwire_service.problems import Refusal
from gradwire_service.scheduling.bounds import Bounds, DurationEstimate, draining, overloaded
from gradwire_service.scheduling.deadline import Deadline
from gradwire_service.scheduling.fair_queue import FairQueue
from gradwire_service.scheduling.job import GRACE_SECONDS, Executor, Job, JobResult

#: What has run for longer leaves its core to be shared: another task may begin beside it.
LONG_SECONDS = 0.25
#: What is known to take less may have an executor that is kept free for others' tasks.
SHORT_SECONDS = 0.1
#: Rounding errors of sums of seconds.
_NO_SECONDS = 1e-9
_LONGEST_RETRY_SECONDS = 60
#: The part of the longest wait after which work is not begun any more: it takes a while itself.
_LATEST_PART = 0.9
#: By so much event loops may wake too soon.
_TICK_SECONDS = 0.001
#: Of so many homes the executor is remembered.
_MOST_HOMES = 10_000


class Queue:
    """Hands tasks to executors: ``cores`` at a time, but for those that have run for long.

    These share the cores with others, as the system does it, as long as there are executors. Where
    there are more than cores, one is kept for an owner who has none, and for short tasks. Only on
    the event loop.
    """

    def __init__(
        self, cores: int, bounds: Bounds, waited: Callable[[float], None] = lambda _: None
    ) -> None:
        self._cores = cores
        self.bounds = bounds
        self._waited = waited
        self._idle: list[Executor] = []
        self._waiting = FairQueue[Job]()
        self._running: dict[Executor, Job] = {}
        self._running_of = Counter[str]()
        self._jobs = 0
        self._bytes = 0
        #: What those of each owner are expected to take.
        self._seconds: dict[str, float] = {}
        self._durations = DurationEstimate()
        self._homes: OrderedDict[str, Executor] = OrderedDict()
        self._wakeup: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def requests(self) -> int:
        """Tasks that wait or run."""
        return self._jobs

    def add(self, executor: Executor) -> None:
        """Have one more executor."""
        self._idle.append(executor)
        self._dispatch()

    def discard(self, executor: Executor) -> None:
        """Have an executor no longer, which has ended."""
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
        watch: Callable[[], Coroutine[Any, Any, NoReturn]] | None = None,
    ) -> JobResult:
        """Have a task done, and wait for that. Cancelling the wait stops the task.

        It holds ``nbytes`` meanwhile and is expected to take so long, or what is usual; it goes
        where others of the same ``home`` were done, if that is idle. ``watch`` raises when nobody
        needs the answer any more.
        Raises: ``Refusal`` (overloaded) at once when the queue is full, or too long for the
        deadline, later when it has to make room for other owners' tasks or has waited for too long;
        ``DeadlineExceeded`` when its time is over, also where the work does not poll for it; the
        error of ``watch``.
        """
        known = expected_seconds is not None
        expected = self._durations.seconds if expected_seconds is None else expected_seconds
        self._make_room(deadline, nbytes, owner)
        job = Job(task, deadline, owner, nbytes, expected, home)
        job.short = known and expected < SHORT_SECONDS
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
            self._durations.learn(monotonic() - job.began_at)
        assert job.executor is not None
        return JobResult(answer, job.waited_seconds, job.executor)

    def close(self) -> Sequence[Executor]:
        """Take nothing more and drop what waits; gives the executors there are."""
        self._closed = True
        for job in self._waiting.all():
            self._waiting.remove(job)
            self._fail(job, draining())
        return [*self._idle, *self._running]

    def _count(self, job: Job, *, counted: bool = True) -> None:
        """Have a job among what there is to do, or no longer."""
        if job.counted == counted:
            return
        job.counted, sign = counted, 1 if counted else -1
        self._jobs += sign
        self._bytes += sign * job.nbytes
        seconds = self._seconds.pop(job.owner, 0.0) + sign * job.expected_seconds
        if seconds > _NO_SECONDS:
            self._seconds[job.owner] = seconds

    def _fail(self, job: Job, error: BaseException) -> None:
        """End a job that has not begun, or whose executor has ended."""
        self._count(job, counted=False)
        job.fail(error)

    def _leave(self, job: Job) -> None:
        """Nobody waits for a job any more: take it out of the queue, or stop it."""
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
        """Kill what has not stopped."""
        if job.executor is not None and self._running.get(job.executor) is job:
            job.executor.kill()

    def _dispatch(self) -> None:
        """Let begin what may."""
        now = monotonic()
        while self._waiting and self._idle and not self._closed:
            began = [job.began_at for job in self._running.values()]
            recent = [at for at in began if now - at < LONG_SECONDS]
            if len(recent) >= self._cores:
                self._dispatch_in(min(recent) + LONG_SECONDS - now)
                return
            job = self._waiting.take(self._may_begin)
            if job is None:
                return
            if job.answer.done():  # just now: its time is over, or its client has gone
                self._count(job, counted=False)
                continue
            refusal = self._too_late(job)
            if refusal is None:
                self._begin(job)
            else:
                self._fail(job, refusal)

    def _dispatch_in(self, seconds: float) -> None:
        """Look again when a task will have run for long, once for all that wait."""
        if self._wakeup is None:
            loop = asyncio.get_running_loop()
            self._wakeup = loop.call_later(seconds + _TICK_SECONDS, self._wake_up)

    def _wake_up(self) -> None:
        self._wakeup = None
        self._dispatch()

    def _may_begin(self, job: Job) -> bool:
        """Of more than there are cores, the last that is idle is kept.

        It is for an owner who has none, and for what is known to be short.
        """
        if len(self._idle) > 1 or len(self._idle) + len(self._running) <= self._cores:
            return True
        return not self._running_of[job.owner] or job.short

    def _begin(self, job: Job) -> None:
        executor = self._homes.get(job.home) if job.home is not None else None
        if executor is None or executor not in self._idle:
            executor = self._idle[-1]
        self._idle.remove(executor)
        if job.home is not None:
            self.remember(job.home, executor)
        job.executor = executor
        job.began_at = monotonic()
        self._running[executor] = job
        self._running_of[job.owner] += 1
        self._waited(job.waited_seconds)

        def answered(answer: Any) -> None:
            del self._running[executor]
            self._running_of[job.owner] -= 1
            if not self._running_of[job.owner]:
                del self._running_of[job.owner]
            self._count(job, counted=False)
            if executor.alive:
                self._idle.append(executor)
            if isinstance(answer, BaseException):
                self._fail(job, answer)
            elif not job.answer.done():
                job.answer.set_result(answer)
            self._dispatch()

        executor.begin(job.task, answered)

    def remember(self, home: str, executor: Executor) -> None:
        """What is asked of ``home`` is best done there from now on."""
        self._homes[home] = executor
        self._homes.move_to_end(home)
        if len(self._homes) > _MOST_HOMES:
            self._homes.popitem(last=False)

    def _wait_seconds(self, owner: str) -> float:
        """How long an owner's queue is: owners are served in turn."""
        return self._seconds.get(owner, 0.0) * len(self._seconds) / self._cores

    def _make_room(self, deadline: Deadline, nbytes: int, owner: str) -> None:
        """Refuse what is too much, or what another owner has too much of."""
        if self._closed:
            raise draining()
        while (refusal := self._refusal(deadline, nbytes, owner)) is not None:
            last = self._waiting.longest()
            if last is None or last.owner == owner:
                raise refusal
            if self._waiting.count_of(owner) >= self._waiting.count_of(last.owner) - 1:
                raise refusal
            self._waiting.remove(last)
            retry_seconds = self._retry_seconds(last.owner)
            self._fail(last, overloaded("dropped to make room for another tenant", retry_seconds))

    def _refusal(self, deadline: Deadline, nbytes: int, owner: str) -> Refusal | None:
        """Why not to take more, if so."""
        if self._jobs < self._cores and self._bytes + nbytes <= self.bounds.nbytes:
            return None
        wait_seconds = self._wait_seconds(owner)
        full = self._jobs >= self._cores and not self._begins_soon(owner)
        if (
            self._jobs >= self._cores + self.bounds.requests
            or (self._jobs and self._bytes + nbytes > self.bounds.nbytes)
            or (full and wait_seconds > self.bounds.seconds)
        ):
            detail = f"{self._jobs} requests are waiting or running"
            return overloaded(detail, self._retry_seconds(owner))
        if full and wait_seconds > deadline.remaining_seconds() > 0:
            detail = (
                f"the queue is {wait_seconds:.1f} s long, more than the time left for the request"
            )
            return overloaded(detail, self._retry_seconds(owner))
        return None

    def _begins_soon(self, owner: str) -> bool:
        """Whether an executor is there as soon as what runs has run for long."""
        kept = 1 if self._running_of[owner] else 0
        return not self._waiting and len(self._idle) > kept

    def _too_late(self, job: Job) -> Refusal | None:
        """Why not to begin a job now: others may take longer than they did when it was taken on."""
        if job.waited_seconds <= _LATEST_PART * self.bounds.seconds:
            return None
        detail = f"it waited {job.waited_seconds:.1f} s in the queue, which is too long"
        return overloaded(detail, self._retry_seconds(job.owner))

    def _retry_seconds(self, owner: str) -> int:
        """When what an owner has queued now will be done."""
        return min(math.ceil(self._wait_seconds(owner)) or 1, _LONGEST_RETRY_SECONDS)


def _abandon(job: Job, watching: asyncio.Future[NoReturn]) -> None:
    """Fail a job with the error of what watched whether it is needed."""
    if not watching.cancelled() and (error := watching.exception()) is not None:
        job.fail(error)
