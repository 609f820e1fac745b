"""The application: creates every part once, and passes it to those that need it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from time import monotonic, time
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gradwire_service import __version__, openapi
from gradwire_service.access.authentication import Authentication
from gradwire_service.access.keyring import Keyring
from gradwire_service.access.keys_file import open_keys
from gradwire_service.cluster.cluster import check_installed
from gradwire_service.computations import routes as computations
from gradwire_service.dependencies import Dependencies
from gradwire_service.engines import open_engines
from gradwire_service.executors import open_processes, open_queues, open_threads
from gradwire_service.http.cors import RefusingPreflights, with_cors
from gradwire_service.jobs import routes as jobs
from gradwire_service.jobs import solve_routes
from gradwire_service.jobs.dispatcher import JobDispatcher
from gradwire_service.jobs.runs import Runs
from gradwire_service.machine_code.compilation import is_compiled
from gradwire_service.programs import routes as programs
from gradwire_service.references import ReferenceResolver
from gradwire_service.routes import (
    catalogue,
    documentation,
    guide,
    health,
    page,
    task_routes,
    tenants,
)
from gradwire_service.routes.admission import Admission
from gradwire_service.routes.offload import Offloader
from gradwire_service.routes.raw import RawRoutes, methods_of
from gradwire_service.scheduling import Capacity, Placement, Rounds
from gradwire_service.settings import Settings
from gradwire_service.store import open_store
from gradwire_service.store.timing import time_calls
from gradwire_service.tapes import routes as tapes
from gradwire_service.telemetry import (
    Exposition,
    Log,
    Metrics,
    ProblemMiddleware,
    RequestMiddleware,
    RequestRecorder,
    TraceExport,
    open_trace_export,
    request_logger,
)
from gradwire_service.tensors import routes as tensors
from gradwire_service.workers.opened_gpu import OpenGpu, open_gpu

logger = logging.getLogger("gradwire")

#: Threads that wait for the store and for new processes, or compile short programs.
_THREADS = 8

DESCRIPTION = """
Exact values and derivatives of programs, which are sent as source text or as graphs.
Every error is a problem document (RFC 9457) with the cause and its place.
"""


class Application(FastAPI):
    """FastAPI with a shorter path to the routes that read and write raw bodies."""

    def __init__(
        self,
        *,
        recorder: RequestRecorder,
        export: TraceExport | None,
        keyring: Keyring | None,
        origins: Sequence[str],
        rounds: Rounds,
        **arguments: Any,
    ) -> None:
        super().__init__(
            exception_handlers={HTTPException: _pass_on, Exception: _pass_on}, **arguments
        )
        self._recorder = recorder
        self._export = export
        self._keyring = keyring
        self._origins = origins
        self._rounds = rounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the middleware stack; FastAPI would read the environment at every request."""
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Stack the middleware, from ``RequestMiddleware`` outside to ``RawRoutes`` inside.

        FastAPI's own stack is innermost, for requests that are not for raw routes.
        """
        added, self.user_middleware = self.user_middleware, []
        app: ASGIApp = RawRoutes(self.routes, super().build_middleware_stack())
        app = Admission(app, self._rounds)
        if self._keyring is not None:
            app = Authentication(app, self._keyring)
        for middleware, arguments, options in reversed(added):
            app = middleware(app, *arguments, **options)
        self.user_middleware = added
        app = ProblemMiddleware(RefusingPreflights(app), self._recorder.metrics)
        app = with_cors(self._origins, app)
        app = RequestMiddleware(app, self._recorder)
        return app if self._export is None else self._export.around(app)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, built once."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                routes=self.routes,
            )
            openapi.complete(schema, keys=self._keyring is not None)
            self.openapi_schema = schema
        return self.openapi_schema


def create_app(
    settings: Settings | None = None,
    log: Log | None = None,
    open_gpu: OpenGpu = open_gpu,
    *,
    clock: Callable[[], float] = monotonic,
    now: Callable[[], float] = time,
) -> FastAPI:
    """Create an application; the default settings are those of the environment.

    Requests are logged to ``log``, if given. With the backend ``cupy``, the GPU's process calls
    ``open_gpu``, a function that can be imported there. ``clock`` and ``now`` tell the time of this
    process: for intervals, and in seconds since 1970.
    Raises: ``StartupError``.
    """
    settings = Settings() if settings is None else settings
    keys = open_keys(settings, clock, now)
    check_installed(settings)
    export = open_trace_export(settings)
    metrics = Metrics()
    keyring = keys.keyring
    isolated = keyring is not None
    metrics.watch_keys(
        lambda: 0 if keyring is None else len(keyring.keys),
        lambda: keyring is not None and keyring.stale,
    )
    queues = open_queues(settings, metrics, clock, isolated=isolated)
    queue = queues.computations
    rounds = Rounds(queue.bounds.seconds, clock)
    capacity = Capacity(queue, queues.gpu, rounds)
    placement = Placement(always=settings.gpu_placement == "always")
    metrics.watch_load(lambda: capacity.in_flight, lambda: queue.load.requests)
    compiled = is_compiled(settings)
    metrics.tell_machine_code(compiled=compiled)
    if settings.machine_code and settings.processes and not compiled:
        logger.info("machine code is off: it needs Linux and llvmlite; NumPy computes")
    engines = open_engines(settings, isolated=isolated)

    store = open_store(settings, None if now is time else now)
    time_calls(store, metrics.called_store)
    resolver = ReferenceResolver(
        engines, store, settings.local_cache_bytes, settings.inline_body_bytes, clock=clock
    )
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="gradwire")
    if settings.processes:
        executors = open_processes(
            settings,
            queues,
            engines,
            store,
            threads,
            metrics,
            placement,
            capacity,
            open_gpu,
            clock,
            isolated=isolated,
        )
    else:
        executors = open_threads(settings, queues, engines, store, resolver)
    gpu = executors.gpu
    dependencies = Dependencies(
        engines, store, resolver, capacity, placement, metrics, settings, clock
    )
    dispatcher = JobDispatcher(executors.jobs, executors.gpu_jobs, placement)
    runs = Runs(dispatcher, capacity, store, threads, metrics, settings, clock, now)
    metrics.watch_jobs(lambda: runs.running)
    offloader = Offloader(dependencies)
    exposition = Exposition(
        metrics,
        lambda: {kind: store.usage(kind).records for kind in store.policies},
        dask=settings.dask,
    )
    lines = None if log is None else request_logger(log, settings)
    recorder = RequestRecorder(metrics, [] if lines is None else [lines])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await executors.open()
        runs.open()
        try:
            with keys.watcher:
                yield
        finally:
            if export is not None:
                await export.close()
            exposition.close()
            await runs.close()
            await executors.close()
            threads.shutdown()
            store.close()

    app = Application(
        title="Gradwire",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        openapi_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        recorder=recorder,
        export=export,
        origins=settings.cors_origins,
        rounds=rounds,
        keyring=keyring,
    )
    app.state.capacity = capacity
    app.state.executors = executors.computations
    app.state.job_executors = executors.jobs
    app.state.runs = runs
    app.state.gpu = gpu
    app.state.store = store
    app.state.recorder = recorder
    app.state.keyring = keyring
    warmed_up = None if gpu is None else lambda: gpu.warmed_up
    state = health.router(capacity, exposition, compiled=compiled, warmed_up=warmed_up)
    _include_routers(app, dependencies, offloader, runs, threads, state)
    return app


def _include_routers(
    app: Application,
    dependencies: Dependencies,
    offloader: Offloader,
    runs: Runs,
    threads: ThreadPoolExecutor,
    state: APIRouter,
) -> None:
    """Include the routers of all resources, and that of the process's ``state``.

    Routes are tried in this order, which is also that of the OpenAPI document.
    """
    keyring = app.state.keyring
    app.router.routes[:0] = computations.routes(dependencies, offloader, threads)
    for resource in (computations, tapes, programs, tensors, jobs):
        app.include_router(task_routes.router(offloader, resource.ROUTES))
    app.include_router(solve_routes.router(dependencies, offloader, runs))
    app.include_router(jobs.router(dependencies, offloader, runs))
    if keyring is not None:
        app.include_router(tenants.router(dependencies, keyring, threads))
    app.include_router(catalogue.router(dependencies.settings, dependencies.placement))
    app.include_router(state)
    app.include_router(documentation.router(app.openapi))
    if dependencies.settings.page:
        app.include_router(page.router())
        app.include_router(guide.router())


async def _pass_on(request: Request, error: Exception) -> Response:
    """Leave unknown paths and methods to ``ProblemMiddleware``, like any other error."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        methods = methods_of(request.app.routes, request.scope)
        methods |= {"HEAD"} if "GET" in methods else set()
        error.headers = {"Allow": ", ".join(sorted(methods))}  # of all routes
    raise error
