"""``/healthz``, ``/readyz`` and ``/metrics``, for operators."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Capacity
from gradwire_service.telemetry import Exposition


def router(
    capacity: Capacity,
    exposition: Exposition,
    *,
    compiled: bool,
    warmed_up: Callable[[], bool] | None = None,
) -> APIRouter:
    """The routes of health checks and metrics; ``compiled`` with machine code.

    With a GPU, ``warmed_up`` says whether that is ready.
    """
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", operation_id="healthz", summary="Whether the process is alive")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @routes.get(
        "/readyz",
        operation_id="readyz",
        summary="Whether the replica accepts requests",
    )
    async def readyz() -> dict[str, str | bool]:
        if capacity.draining:
            why = f": {capacity.fault}" if capacity.fault else ""
            detail = f"this replica is shutting down{why}"
            raise RequestError("draining", detail, retry_after_seconds=1)
        if warmed_up is not None and not warmed_up():
            raise RequestError("starting", "the GPU is not ready yet", retry_after_seconds=1)
        return {"status": "ready", "machine_code": compiled, "gpu": warmed_up is not None}

    @routes.get(
        "/metrics",
        operation_id="metrics",
        summary="Metrics in Prometheus' text format",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        return Response(await exposition.text(), headers={"content-type": CONTENT_TYPE_LATEST})

    return routes
