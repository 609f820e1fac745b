"""``GET /v1/ops`` and ``/v1/limits``: operations and limits."""

from __future__ import annotations

import math
from typing import Any

import orjson
from fastapi import APIRouter
from gradwire_engine import catalogue
from starlette.responses import Response

from gradwire_service import openapi
from gradwire_service.routes.fixed import Fixed
from gradwire_service.scheduling import Placement
from gradwire_service.settings import Settings


def router(settings: Settings, placement: Placement) -> APIRouter:
    """The routes that describe the service."""
    routes = APIRouter(prefix="/v1", tags=["service"])
    operations = Fixed(lambda: orjson.dumps({"ops": catalogue()}), "application/json")

    @routes.get(
        "/ops",
        operation_id="ops",
        summary="Every operation",
        response_model=dict[str, list[dict[str, Any]]],
    )
    async def ops() -> Response:
        """Name, aliases, signature, documentation, and whether it is differentiable."""
        return await operations.response()

    @routes.get("/limits", operation_id="limits", summary="Limits of one request")
    async def limits() -> dict[str, openapi.Whole | openapi.GpuDocument]:
        """Every limit of a request, and the GPU that computes, if there is one."""
        device = placement.device
        gpu = {} if device is None else {"gpu": openapi.GpuDocument.of(device)}
        return {
            "body_bytes": settings.max_body_bytes,
            "array_bytes": settings.max_array_bytes,
            "total_bytes": settings.max_total_bytes,
            "answer_bytes": settings.max_answer_bytes,
            "instructions": settings.max_instructions,
            "flops": settings.max_flops,
            "default_timeout_ms": settings.default_timeout_ms,
            "timeout_ms": settings.max_timeout_ms,
            "tapes": settings.max_tapes_per_tenant,
            "tapes_bytes": settings.max_tapes_bytes_per_tenant,
            "programs": settings.max_programs_per_tenant,
            "programs_bytes": settings.max_programs_bytes_per_tenant,
            "tensors": settings.max_tensors_per_tenant,
            "tensors_bytes": settings.max_tensors_bytes_per_tenant,
            "jobs": settings.max_jobs_per_tenant,
            "jobs_bytes": settings.max_jobs_bytes_per_tenant,
            "job_seconds": math.ceil(settings.job_seconds),
            "wait_ms": settings.job_wait_ms,
            **gpu,
        }

    return routes
