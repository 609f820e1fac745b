"""The runs of this replica, and those that it takes over from others."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from time import time
from typing import Any, TypeVar

from gradwire_service.jobs import Job, Jobs, Lease, State, Unknown, new_id
from gradwire_service.problems import RequestError, problem_of
from gradwire_service.runs.run import LEASE_SECONDS, Cancelled, Interrupted, Means, Run
from gradwire_service.scheduling import Capacity, Deadline, Queue
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Store, Unavailable
from gradwire_service.wire.shared import SharedMemory
from gradwire_service.work.messages import Task

logger = logging.getLogger("gradwire")

T = TypeVar("T")

#: Time between looks for jobs whose replica is gone.
_SWEEP_SECONDS = 2.0
#: A job that ends its replica so often in a row, without any progress, is not tried again.
_MOST_ATTEMPTS = 3


class Runs:
    """The optimisations on this replica, in processes of their own behind ``queue``.

    Only for the event loop; the store is called in ``threads`` if it makes callers wait.
    """

    def __init__(
        self,
        queue: Queue,
        capacity: Capacity,
        store: Store,
        threads: ThreadPoolExecutor,
        settings: Settings,
    ) -> None:
        self.jobs = Jobs(store)
        #: How many jobs have ended here, by state.
        self.ended: Counter[State] = Counter()
        self._capacity = capacity
        self._store = store
        self._threads = threads
        self._most_waiting = settings.job_processes
        self._means = Means(
            queue,
            self.jobs,
            self.blocking,
            secrets.token_hex(8),
            settings.job_seconds,
            self._count,
        )
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

    def begin(self, task: Task, idempotency_key: bytes | None) -> Run:
        """Run an optimisation, which is not a job yet.

        Raises: ``RequestError`` (idempotency_conflict) if another request has this key here.
        """
        key = Key("jobs", task.owner, new_id(task.owner, idempotency_key))
        digest = _digest(task)
        known = self._runs.get(key)
        if known is not None:
            check_same(known.job, digest)
            return known
        return self._start(key, Job(task.name, time(), digest), task)

    def find(self, key: Key) -> Run | None:
        """The run of a job, if it is here."""
        return self._runs.get(key)

    def cancel(self, key: Key) -> None:
        """Stop the run of a cancelled job at once, if it is here; others see it soon."""
        run = self._runs.get(key)
        if run is not None:
            run.stop(Cancelled())

    def _start(self, key: Key, job: Job, task: Task, **found: Any) -> Run:
        run = Run(self._means, key, job, task, **found)
        self._runs[key] = run
        ending = asyncio.ensure_future(run.ended())
        ending.add_done_callback(lambda _: self._runs.pop(key, None))
        return run

    def _count(self, state: State) -> None:
        self.ended[state] += 1

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
            if lease.until > time() or key in self._runs:
                continue
            found = await self.blocking(self._claim, key, lease)
            if found is not None:
                logger.info("going on with a job", extra={"job": key.id})
                self._start(key, *found[:2], lease=found[2], events=found[3])

    def _claim(self, key: Key, seen: Lease) -> tuple[Job, Task, Lease, int] | None:
        """Take over a job; None if there is nothing left to do, or another replica was faster."""
        iteration, attempts = _progress_of(self.jobs, key), 1
        if iteration is not None and seen.iteration == iteration:
            attempts = seen.attempts + (seen.until > 0)  # one that was handed over does not count
        lease = seen._replace(
            replica=self._means.replica,
            until=time() + LEASE_SECONDS,
            iteration=iteration or 0,
            attempts=attempts,
        )
        if not self.jobs.change_lease(seen, lease):
            return None
        try:
            job = self.jobs.find(key).job
            request = self.jobs.find_part(key, "request")
        except Unknown:
            job = request = None
        if job is None or job.ended or request is None:
            self.jobs.remove_lease(lease)
            return None
        if attempts > _MOST_ATTEMPTS:
            self._give_up(key, lease)
            return None
        resumed = job._replace(resumed=job.resumed + 1)
        if not self.jobs.change(key, job, resumed):  # cancelled just now
            self.jobs.remove_lease(lease)
            return None
        checkpoint, events = (self.jobs.find_part(key, part) for part in ("checkpoint", "events"))
        headers = {name.encode(): text.encode("latin-1") for name, text in _headers(request.head)}
        task = Task(
            job.kind,
            (),
            headers,
            key.owner,
            Deadline(1000 * self._means.seconds),
            bytes(request.content),
            b"" if checkpoint is None else bytes(checkpoint.content),
        )
        last = b"0" if events is None else bytes(events.content).rpartition(b"\n")[2]
        return resumed, task, lease, int(last.split(b" ")[0] or 0)

    def _give_up(self, key: Key, lease: Lease) -> None:
        error = RequestError(
            "worker_crashed",
            f"{_MOST_ATTEMPTS} replicas ended while they ran this job, without any progress",
            hint="report it with the program, which may crash other replicas too",
        )
        problem = json.loads(problem_of(error).body(key.id))
        problem["instance"] = f"urn:gradwire:job:{key.id}"
        self.jobs.end(key, state="failed", finished_at=time(), problem=problem)
        self.jobs.remove_parts(key, ("request", "checkpoint"))
        self.jobs.remove_lease(lease)


def check_same(job: Job, digest: str) -> None:
    """Raises: ``RequestError`` (idempotency_conflict) if a job is of another request."""
    if job.digest != digest:
        raise RequestError(
            "idempotency_conflict",
            "another request was sent with this Idempotency-Key",
            hint="use a new key for each new request",
        )


def _digest(task: Task) -> str:
    """The digest of a request: its kind, formats and body."""
    found = sha256(json.dumps([task.name, sorted(map(str, task.headers.items()))]).encode())
    body = task.body
    found.update(body.mapped() if isinstance(body, SharedMemory) else bytes(body))
    return found.hexdigest()


def _headers(head: str) -> Any:
    return json.loads(head).items()


def _progress_of(jobs: Jobs, key: Key) -> int | None:
    """The iteration that a job has reached, None if it has not begun to."""
    try:
        progress = jobs.find(key).job.progress
    except Unknown:
        return None
    return None if progress is None else int(progress["iteration"])
