"""The queues of a service, and the processes or threads that execute what waits in them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from gradwire_service.cluster.cluster import open_cluster
from gradwire_service.computations.redirects import Redirects
from gradwire_service.engines import Engines
from gradwire_service.jobs.dispatcher import SHORT_RUN_SECONDS
from gradwire_service.machine_code import open_codes
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling import Bounds, Capacity, Lanes, Placement, Queue
from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError
from gradwire_service.store import SharedStore
from gradwire_service.tapes.stored import Tapes
from gradwire_service.tasks.registry import Tasks
from gradwire_service.telemetry import Metrics
from gradwire_service.workers.gpu import GpuJobPool, GpuPool
from gradwire_service.workers.opened_gpu import OpenGpu
from gradwire_service.workers.pool import JobPool, ProcessPool
from gradwire_service.workers.threads import THREADS_PER_CORE, ThreadPool
from gradwire_service.workers.worker import serve

#: A computation is short until it has taken so long.
SHORT_COMPUTATION_SECONDS = 1.0


class Queues(NamedTuple):
    """The queues of computations, of those for the GPU if there is one, and of optimisations."""

    computations: Queue
    gpu: Queue | None
    jobs: Queue


def open_queues(
    settings: Settings, metrics: Metrics, clock: Callable[[], float], *, isolated: bool
) -> Queues:
    """The queues of a service; ``isolated`` says whether tenants have API keys."""
    bounds = Bounds(settings.queue_requests, settings.queue_bytes, settings.queue_seconds)
    waited = metrics.waited
    queue = Queue(settings.cores, bounds, waited, clock=clock, lanes=_lanes(settings))
    has_gpu = settings.backend == "cupy"
    gpu_queue = Queue(1, bounds, waited, queue.load, clock) if has_gpu else None
    return Queues(queue, gpu_queue, _job_queue(settings, clock, isolated=isolated))


class Executors(NamedTuple):
    """The pools that run computations and optimisations, and those that do so on a GPU."""

    computations: ProcessPool | ThreadPool
    jobs: JobPool | ThreadPool
    gpu: GpuPool | None = None
    gpu_jobs: GpuJobPool | None = None

    async def open(self) -> None:
        """Start; the optimisations on the GPU start when they are needed."""
        for pool in self.gpu, self.computations, self.jobs:
            if pool is not None:
                await pool.open()

    async def close(self) -> None:
        """Stop."""
        for pool in self.jobs, self.gpu_jobs, self.gpu, self.computations:
            if pool is not None:
                await pool.close()


def open_processes(
    settings: Settings,
    queues: Queues,
    engines: Engines,
    store: SharedStore,
    threads: ThreadPoolExecutor,
    metrics: Metrics,
    placement: Placement,
    capacity: Capacity,
    open_gpu: OpenGpu,
    clock: Callable[[], float],
    *,
    isolated: bool,
) -> Executors:
    """Executors that are processes, started later; the GPU's call ``open_gpu``."""
    codes = open_codes(settings, engines.budget, metrics)
    shared = store, codes, metrics
    pool = ProcessPool(serve, settings, *shared, queues.computations, threads, isolated=isolated)
    for_jobs = settings.model_copy(update={"processes": settings.job_processes + 1})
    serve_jobs = partial(serve, for_jobs=True)
    job_pool = JobPool(serve_jobs, for_jobs, *shared, queues.jobs, threads, isolated=isolated)
    if queues.gpu is None:
        return Executors(pool, job_pool)
    gpu = GpuPool(
        partial(serve, open_gpu=open_gpu),
        *(settings, *shared, queues.gpu, threads),
        isolated=isolated,
        placement=placement,
        capacity=capacity,
    )
    metrics.watch_gpu(lambda: gpu.used_bytes)
    gpu_jobs = GpuJobPool(
        partial(serve_jobs, open_gpu=open_gpu),
        *(settings.model_copy(update={"processes": 1}), *shared),
        *(Queue(1, queues.jobs.bounds, clock=clock), threads),
        isolated=isolated,
        clock=clock,
    )
    return Executors(pool, job_pool, gpu, gpu_jobs)


def open_threads(
    settings: Settings,
    queues: Queues,
    engines: Engines,
    store: SharedStore,
    resolver: ReferenceResolver,
) -> Executors:
    """Executors that are threads of this process.

    Raises: ``StartupError`` where there is a GPU.
    """
    if queues.gpu is not None:
        raise StartupError(
            "GRADWIRE_BACKEND=cupy needs worker processes: set GRADWIRE_PROCESSES to 1 or more"
        )
    tapes = Tapes(engines, store, resolver, settings.tape_values_bytes)
    tasks = Tasks(engines, resolver, tapes, open_cluster(settings, engines), Redirects(settings))
    return Executors(
        ThreadPool(tasks, queues.computations, settings),
        ThreadPool(tasks, queues.jobs, settings, settings.job_processes + 1),
    )


def _lanes(settings: Settings) -> Lanes:
    """The lanes of computations: with no more executors than cores, all may be long."""
    executors = settings.processes or THREADS_PER_CORE * settings.cores + 1
    spare = 1 if executors > settings.cores else 0
    kept = 1 if executors - spare > settings.cores else 0
    return Lanes(executors - spare, kept, SHORT_COMPUTATION_SECONDS)


def _job_queue(settings: Settings, clock: Callable[[], float], *, isolated: bool) -> Queue:
    """The queue of optimisations, which wait as long as it takes, but not short for long ones.

    With API keys one process is kept for tenants of which nothing runs, if there are others.
    """
    kept = 1 if isolated and settings.job_processes > 1 else 0
    bounds = Bounds(settings.job_queue, settings.queue_bytes)
    lanes = Lanes(settings.job_processes, kept, SHORT_RUN_SECONDS)
    return Queue(settings.job_processes - kept, bounds, clock=clock, lanes=lanes)
