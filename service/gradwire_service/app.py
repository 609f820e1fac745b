"""The application: every part made once, and handed to those that need it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gradwire_service import __version__, documents
from gradwire_service.access.admission import Admission
from gradwire_service.access.keyring import Keyring
from gradwire_service.access.opening import open_keys
from gradwire_service.engines import open_engines
from gradwire_service.http.cors import RefusingPreflights, with_cors
from gradwire_service.library import Library
from gradwire_service.parts import Parts
from gradwire_service.routes import (
    catalogue,
    compute,
    documentation,
    health,
    pictures,
    programs,
    tapes,
    tenants,
    tensors,
)
from gradwire_service.routes.compressing import Compressing
from gradwire_service.routes.desk import Desk
from gradwire_service.routes.raw import RawRoutes, methods_of
from gradwire_service.scheduling import Bounds, Capacity, Queue
from gradwire_service.settings import Settings
from gradwire_service.store import open_store
from gradwire_service.tapes import Tapes
from gradwire_service.telemetry import (
    Export,
    Exposition,
    Ledger,
    Log,
    Metrics,
    Problems,
    RequestScope,
    open_export,
    request_lines,
)
from gradwire_service.work.tasks import Tasks
from gradwire_service.workers.pool import Pool
from gradwire_service.workers.threads import Threads
from gradwire_service.workers.worker import serve

#: Threads that wait for the store and for processes to start, or compile what is short.
_THREADS = 8

DESCRIPTION = """
Exact values and gradients of the programs it is sent, written as source text or as a graph.
Every error is a problem document (RFC 9457) that says what is wrong, and where.
"""


class Application(FastAPI):
    """FastAPI with a shorter way to the routes that read and write raw bodies."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        export: Export | None,
        keyring: Keyring | None,
        origins: Sequence[str],
        **arguments: Any,
    ) -> None:
        super().__init__(
            exception_handlers={HTTPException: _pass_on, Exception: _pass_on}, **arguments
        )
        self._ledger = ledger
        self._export = export
        self._keyring = keyring
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As Starlette's own; FastAPI's looks into the environment at every request."""
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Around all ``RequestScope``, then which pages may ask, what is added, who is let in.

        FastAPI's own is passed only where needed.
        """
        added, self.user_middleware = self.user_middleware, []
        app: ASGIApp = RawRoutes(self.routes, super().build_middleware_stack())
        app = Compressing(app)
        if self._keyring is not None:
            app = Admission(app, self._keyring)
        for middleware, arguments, options in reversed(added):
            app = middleware(app, *arguments, **options)
        self.user_middleware = added
        app = Problems(RefusingPreflights(app), self._ledger.metrics)
        app = with_cors(self._origins, app)
        app = RequestScope(app, self._ledger)
        return app if self._export is None else self._export.around(app)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                routes=self.routes,
            )
            documents.complete(schema, keys=self._keyring is not None)
            self.openapi_schema = schema
        return self.openapi_schema


def create_app(settings: Settings | None = None, log: Log | None = None) -> FastAPI:
    """Make an application; without settings, with those of the environment.

    Requests are lines of ``log``, where there is one.
    """
    settings = Settings() if settings is None else settings
    keys = open_keys(settings)
    export = open_export(settings)
    metrics = Metrics()
    keyring = keys.keyring
    metrics.watch_keys(
        lambda: 0 if keyring is None else len(keyring.keys),
        lambda: keyring is not None and keyring.stale,
    )
    bounds = Bounds(settings.queue_requests, settings.queue_bytes, settings.queue_seconds)
    queue = Queue(settings.cores, bounds, metrics.waited)
    capacity = Capacity(queue)
    metrics.watch(capacity)
    apart = keyring is not None
    engines = open_engines(settings, apart=apart)

    store = open_store(settings)
    library = Library(engines, store, settings.near_bytes, settings.inline_body_bytes)
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="gradwire")
    executors: Pool | Threads
    if settings.processes:
        executors = Pool(serve, settings, store, queue, threads, apart=apart)
    else:
        tapes_here = Tapes(engines, store, library, settings.tape_values_bytes)
        executors = Threads(Tasks(engines, library, tapes_here), queue, settings)
    parts = Parts(engines, store, library, capacity, metrics, settings)
    desk = Desk(capacity, metrics, settings)
    exposition = Exposition(
        metrics, lambda: {kind: store.amounts(kind).records for kind in store.policies}
    )
    lines = None if log is None else request_lines(log, settings)
    ledger = Ledger(metrics, [tell for tell in (lines,) if tell is not None])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await executors.open()
        try:
            with keys.following:
                yield
        finally:
            if export is not None:
                await export.close()
            exposition.close()
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
        ledger=ledger,
        export=export,
        origins=settings.cors_origins,
        keyring=keys.keyring,
    )
    app.state.capacity = capacity
    app.state.executors = executors
    app.state.store = store
    app.state.ledger = ledger
    app.state.keyring = keys.keyring
    app.router.routes[:0] = compute.routes(parts, desk, threads)
    for resource in (tapes, programs, pictures, tensors):
        app.include_router(resource.router(desk))
    if keys.keyring is not None:
        app.include_router(tenants.router(parts, keys.keyring, threads))
    app.include_router(catalogue.router(settings))
    app.include_router(health.router(capacity, exposition))
    app.include_router(documentation.router(app.openapi))
    return app


async def _pass_on(request: Request, error: Exception) -> Response:
    """Leave a path or method that does not exist to ``RequestScope``, as any other refusal."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        methods = methods_of(request.app.routes, request.scope)
        methods |= {"HEAD"} if "GET" in methods else set()
        error.headers = {"Allow": ", ".join(sorted(methods))}  # Starlette's own has one route's
    raise error
