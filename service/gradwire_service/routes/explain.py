"""``POST /v1/explain``: how a query is computed, with its values and adjoints."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import openapi
from gradwire_service.routes.offload import Offloader


def router(offloader: Offloader) -> APIRouter:
    """The route of explanations."""
    routes = APIRouter(tags=["compute"])

    @routes.post("/v1/explain", **openapi.EXPLAIN_OPERATION)
    async def explain(request: Request) -> Response:
        return await offloader.answer(request, "explain")

    return routes
