"""The runs of this replica, and those that it takes over from others."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic, time
from typing import Any, NamedTuple, TypeVar

from gradwire_service.jobs import Job, Jobs, Lease, StoredJob, Unknown, new_id
from gradwire_service.problems import RequestError, problem_of
from gradwire_service.runs.places import Places
from gradwire_service.runs.run import LEASE_SECONDS, Cancelled, Interrupted, Means, Run
from gradwire_service.scheduling import Capacity, Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Store, Unavailable
from gradwire_service.telemetry import Metrics
from gradwire_service.work.messages import Task

logger = logging.getLogger("gradwire")

T = TypeVar("T")

#: Time between looks for jobs whose replica is gone.
_SWEEP_SECONDS = 2.0
#: A job that ends its process so often in a row, without any progress, is not tried again.
_MOST_ATTEMPTS = 3
#: Statuses of problems that a request is to be repeated after.
_PASSING = (404, 503)


class Resumed(NamedTuple):
    """A job that was interrupted: its task from its checkpoint, and the last event's number."""

    job: Job
    task: Task
    lease: Lease
    last_event: int


class Runs:
    """The optimisations on this replica, which run in ``places``.

    Only for the event loop; the store is called in ``threads`` if it makes callers wait.
    """

    def __init__(
        self,
        places: Places,
        capacity: Capacity,
        store: Store,
        threads: ThreadPoolExecutor,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time,
    ) -> None:
        self.jobs = Jobs(store, now)
        self._capacity = capacity
        self._store = store
        self._threads = threads
        self._most_waiting = settings.job_processes
        self._means = Means(
            places,
            self.jobs,
            self.blocking,
            secrets.token_hex(8),
            settings.job_seconds,
            metrics.ended_job,
            clock,
            now,
        )
        self._now = now
        self._runs: dict[Key, Run] = {}
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def running(self) -> int:
        """The optimisations that run or wait here."""
        return len(self._runs)

    async def blocking(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function that may wait for the store."""
        if not self._store.waits:
            return function(*arguments)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)

    def open(self) -> None:
        """Look for jobs that were interrupted, now and again and again."""
        self._sweeping = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """Stop all runs; another replica, or the next start, goes on with the jobs."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        runs = [*self._runs.values()]
        for run in runs:
            run.stop(Interrupted())
        await asyncio.gather(*(run.ended() for run in runs))

    async def begin(
        self,
        task: Task,
        idempotency_key: bytes | None = None,
        digest: str = "",
        *,
        stored: bool,
        again: bool = False,
    ) -> Run | StoredJob:
        """Run an optimisation, as a job at once if it is to be ``stored``.

        Of requests with one idempotency key and one ``digest``, one begins it: others get its run,
        or what is stored of it where that is not here. If it has failed for want of something that
        may be there later, it is begun ``again``.
        Raises: ``RequestError`` (idempotency_conflict) if another request has used the key;
        (over_budget, overloaded, store_unavailable).
        """
        key = Key("jobs", task.owner, new_id(task.owner, idempotency_key))
        job = Job(task.name, self._now(), digest)
        run = self._runs.get(key)
        if run is not None:
            _check_same(run.job, job)
            return run
        self._means.places.check(task)
        run = Run(self._means, key, job, task)
        if stored and not await run.keep():
            found = await self.find(key)
            _check_same(found.job, job)
            if not (again and _may_pass(found.job)):
                return found
            await self.blocking(self.jobs.remove, key)
            if not await run.keep():
                return await self.find(key)
        self._start(run)
        await asyncio.sleep(0)  # then it is in the queue, which has to count it
        return run

    async def find(self, key: Key) -> StoredJob:
        """What is stored of a job.

        Raises: ``Unknown``, ``Unavailable``.
        """
        return await self.blocking(self.jobs.find, key)

    async def cancel(self, key: Key) -> None:
        """Cancel a job, at once if its run is here; delete one that has ended.

        Raises: ``Unknown``, ``Unavailable``.
        """
        stored = await self.find(key)
        if stored.job.ended:
            await self.blocking(self.jobs.remove, key)
            return
        now = self._now()
        ends = partial(self.jobs.end, key, state="cancelled", finished_at=now, taken_at=now)
        await self.blocking(ends)
        if (run := self._runs.get(key)) is not None:
            run.stop(Cancelled())

    def _start(self, run: Run) -> None:
        self._runs[run.key] = run
        run.start().add_done_callback(lambda _: self._runs.pop(run.key, None))

    async def _sweep(self) -> None:
        while True:
            try:
                await self._take_over()
            except Unavailable:
                pass
            except Exception as error:  # else no job would be taken over any more
                logger.exception("looking for interrupted jobs failed", exc_info=error)
            await asyncio.sleep(_SWEEP_SECONDS)

    async def _take_over(self) -> None:
        """Go on with the jobs whose leases have passed, as far as there is room."""
        for lease in await self.blocking(lambda: list(self.jobs.leases())):
            if self._capacity.draining or len(self._runs) >= 2 * self._most_waiting:
                return
            key = Key("jobs", lease.owner, lease.id)
            if lease.until > self._now() or key in self._runs:
                continue
            found = await self.blocking(self._claim, key, lease)
            if found is not None:
                logger.info("going on with a job", extra={"job": key.id})
                self._start(Run(self._means, key, *found))

    def _claim(self, key: Key, seen: Lease) -> Resumed | None:
        """Take over a job; None if there is nothing left to do, or another replica was faster."""
        iteration, attempts = _progress_of(self.jobs, key), 1
        if iteration is not None and iteration <= seen.iteration:
            attempts = seen.attempts + (seen.until > 0)  # one that was handed over does not count
        lease = seen._replace(
            replica=self._means.replica,
            until=self._now() + LEASE_SECONDS,
            iteration=max(iteration or 0, seen.iteration),
            attempts=attempts,
        )
        if not self.jobs.change_lease(seen, lease):
            return None
        try:
            job = self.jobs.find(key).job
        except Unknown:
            self.jobs.remove_lease(lease)
            return None
        request = self.jobs.find_part(key, "request")
        if job.ended or request is None:
            self.jobs.remove_lease(lease)
            return None
        if attempts > _MOST_ATTEMPTS:
            self._give_up(key, lease)
            return None
        resumed = job._replace(resumed=job.resumed + 1)
        if not self.jobs.change(key, job, resumed):  # cancelled just now
            self.jobs.remove_lease(lease)
            return None
        checkpoint, events = self.jobs.find_part(key, "checkpoint"), self.jobs.events(key)
        headers = {name.encode(): text.encode("latin-1") for name, text in _headers(request.head)}
        task = Task(
            job.kind,
            (),
            headers,
            key.owner,
            Deadline(1000 * self._means.seconds, self._means.clock),
            bytes(request.content),
            b"" if checkpoint is None else bytes(checkpoint.content),
        )
        return Resumed(resumed, task, lease, events[-1][0] if events else 0)

    def _give_up(self, key: Key, lease: Lease) -> None:
        error = RequestError(
            "worker_crashed",
            f"{_MOST_ATTEMPTS} processes ended while they ran this job, without any progress",
            hint="use smaller arrays if memory is short; else report it with the program",
        )
        problem = json.loads(problem_of(error).body(key.id))
        problem["instance"] = f"urn:gradwire:job:{key.id}"
        self.jobs.end(key, state="failed", finished_at=self._now(), problem=problem)
        self.jobs.remove_parts(key, ("request", "checkpoint"))
        self.jobs.remove_lease(lease)


def _check_same(known: Job, job: Job) -> None:
    """Raises: ``RequestError`` (idempotency_conflict) if a known job is of another request."""
    if known.digest != job.digest:
        raise RequestError(
            "idempotency_conflict",
            "another request was sent with this Idempotency-Key",
            hint="use a new key for each new request",
        )


def _may_pass(job: Job) -> bool:
    """True if a job could not begin for want of a reference, or of a service."""
    return job.failed_early and (job.problem or {}).get("status") in _PASSING


def _headers(head: str) -> Any:
    return json.loads(head).items()


def _progress_of(jobs: Jobs, key: Key) -> int | None:
    """The iteration that a job has reached, None if it has not begun to."""
    try:
        progress = jobs.find(key).job.progress
    except Unknown:
        return None
    return None if progress is None else int(progress["iteration"])
