"""The application: every part made once, and handed to those that need it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from gradwire_engine import Engine
from gradwire_engine.answer import Limits
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gradwire_service import __version__, documents
from gradwire_service.capacity import Capacity
from gradwire_service.problems import MEDIA_TYPE, problem_of
from gradwire_service.routes import catalogue, compute, documentation, health
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Metrics, RequestScope

DESCRIPTION = """
Exact values and gradients of the programs it is sent, written as source text or as a graph.
Every error is a problem document (RFC 9457) that says what is wrong, and where.
"""


class Application(FastAPI):
    """FastAPI with the schemas of the routes that read and write raw bodies."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                routes=self.routes,
            )
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(documents.component_schemas())
            self.openapi_schema = schema
        return self.openapi_schema


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make an application; without settings, with those of the environment."""
    settings = Settings() if settings is None else settings
    capacity = Capacity(
        threads=settings.pool_threads,
        queue_requests=settings.queue_requests,
        queue_bytes=settings.queue_bytes,
    )
    metrics = Metrics(capacity)
    limits = Limits(
        array_bytes=settings.max_array_bytes,
        total_bytes=settings.max_total_bytes,
        instructions=settings.max_instructions,
        flops=settings.max_flops,
    )
    engine = Engine(limits=limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        capacity.close()

    app = Application(
        title="Gradwire",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        exception_handlers={HTTPException: _refuse},
    )
    app.state.capacity = capacity
    app.router.routes[:0] = compute.routes(
        engine=engine, capacity=capacity, metrics=metrics, settings=settings
    )
    app.include_router(catalogue.router(settings))
    app.include_router(health.router(capacity, metrics))
    app.include_router(documentation.router())
    app.add_middleware(RequestScope, metrics=metrics)
    return app


async def _refuse(request: Request, error: Exception) -> Response:
    """A path or method that does not exist, told as everything else that is refused."""
    problem = problem_of(error)
    body = problem.body(request.scope["gradwire.request_id"])
    return Response(body, problem.status, dict(problem.headers), MEDIA_TYPE)
