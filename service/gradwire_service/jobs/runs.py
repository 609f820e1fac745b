"""The runs of this replica, and those that it takes over from others."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from time import monotonic, time
from typing import Any, TypeVar

from gradwire_service.jobs import Cancelled, Claim, Interrupted, Job, StoredJob, Transitions, new_id
from gradwire_service.jobs.dispatcher import JobDispatcher
from gradwire_service.jobs.feeds import Feed, Feeds, pause
from gradwire_service.jobs.reporter import document_of
from gradwire_service.jobs.run import Run, RunContext
from gradwire_service.jobs.transitions import LEASES
from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Capacity, Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import Key, SharedStore, Unavailable
from gradwire_service.store.records import Notice
from gradwire_service.tasks.messages import Task
from gradwire_service.telemetry import Metrics

logger = logging.getLogger("gradwire")

T = TypeVar("T")

#: Time between looks for jobs whose replica is gone.
_SWEEP_SECONDS = 5.0
#: The part of a job's time to live after which what it needs is used again.
_USED_PART = 0.1
#: Statuses of problems that a request is to be repeated after.
_PASSING = (404, 503)


class Runs:
    """The optimisations on this replica, which ``dispatcher`` runs.

    Only for the event loop; the store is called in ``threads`` if it makes callers wait.
    """

    def __init__(
        self,
        dispatcher: JobDispatcher,
        capacity: Capacity,
        store: SharedStore,
        threads: ThreadPoolExecutor,
        metrics: Metrics,
        settings: Settings,
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time,
    ) -> None:
        self._replica = secrets.token_hex(8)
        self.transitions = Transitions(store, self._replica, document_of, now)
        self._capacity = capacity
        self._store = store
        self._threads = threads
        self._most_waiting = settings.job_processes
        self._feeds = Feeds(store, self.blocking, self._heard)
        self._context = RunContext(
            dispatcher,
            self.transitions,
            self._feeds,
            self.blocking,
            settings.job_seconds,
            _USED_PART * settings.job_ttl_seconds,
            metrics.ended_job,
            clock,
            now,
        )
        self._now = now
        self._runs: dict[Key, Run] = {}
        self._handed_over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

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
        self._tasks = [asyncio.create_task(each) for each in (self._sweep(), self._feeds.listen())]

    async def close(self) -> None:
        """Stop all runs; another replica, or the next start, goes on with the jobs."""
        for task in self._tasks:
            task.cancel()
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
        self._context.dispatcher.check(task)
        run = Run(self._context, key, job, task)
        if stored and not await run.persist():
            found = await self.find(key)
            _check_same(found.job, job)
            if not (again and _may_pass(found.job)):
                return found
            await self.blocking(self.transitions.remove, found)
            if not await run.persist():
                return await self.find(key)
        self._start(run)
        await asyncio.sleep(0)  # then it is in the queue, which has to count it
        return run

    async def find(self, key: Key) -> StoredJob:
        """The stored record of a job.

        Raises: ``Unknown``, ``Unavailable``.
        """
        return await self.blocking(self.transitions.jobs.find, key)

    async def cancel(self, key: Key) -> None:
        """Cancel a job, at once if its run is here; delete one that has ended.

        Raises: ``Unknown``, ``Unavailable``.
        """
        await self.blocking(self.transitions.cancel, key)
        if (run := self._runs.get(key)) is not None:
            run.stop(Cancelled())

    def following(self, key: Key) -> AbstractAsyncContextManager[Feed]:
        """The feed of a job, for as long as somebody waits for it.

        Raises: ``Unavailable``.
        """
        return self._feeds.following(key)

    async def take(self, key: Key) -> None:
        """Note that the end of a job is sent to its owner."""
        await self.blocking(self.transitions.take, key)

    def _heard(self, notice: Notice | None) -> None:
        """Look at what others have changed, as a notice says."""
        if notice is None or notice.key == LEASES:
            self._handed_over.set()
        for run in [*self._runs.values()]:
            if notice is None or (notice.key == run.key and notice.origin != self._replica):
                run.look()

    def _start(self, run: Run) -> None:
        self._runs[run.key] = run
        run.start().add_done_callback(lambda _: self._runs.pop(run.key, None))

    async def _sweep(self) -> None:
        await self._feeds.watch(LEASES)
        while True:
            self._handed_over.clear()
            try:
                await self._take_over()
            except Unavailable:
                pass
            except Exception as error:  # else no job would be taken over any more
                logger.exception("looking for interrupted jobs failed", exc_info=error)
            await pause(self._handed_over, _SWEEP_SECONDS)

    async def _take_over(self) -> None:
        """Go on with the jobs whose leases have passed, as far as there is room."""
        for lease in await self.blocking(lambda: list(self.transitions.leases())):
            if self._capacity.draining or len(self._runs) >= 2 * self._most_waiting:
                return
            key = Key("jobs", lease.owner, lease.id)
            if lease.until > self._now() or key in self._runs:
                continue
            try:
                claim = await self.blocking(self.transitions.claim, lease)
            except Unavailable:
                return
            except Exception as error:  # one job that cannot be read is not in the way of others
                logger.exception("a job cannot be taken over", exc_info=error)
                continue
            if claim is not None:
                logger.info("going on with a job", extra={"job": key.id})
                await self._feeds.watch(key)
                self._start(
                    Run(self._context, key, claim.held.stored.job, self._task(claim), claim)
                )

    def _task(self, claim: Claim) -> Task:
        """The task of a job that was taken over."""
        stored, request = claim.held.stored, claim.request
        headers = json.loads(request.head).items()
        return Task(
            stored.job.kind,
            (),
            {name.encode(): text.encode("latin-1") for name, text in headers},
            stored.key.owner,
            Deadline(1000 * self._context.seconds, self._context.clock),
            bytes(request.content),
            claim.checkpoint,
        )


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
