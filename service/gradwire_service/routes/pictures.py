"""``/v1/programs/{program}/graph.svg``, ``.dot`` and ``.json``: the graph of a program."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import openapi
from gradwire_service.routes.offload import Offloader
from gradwire_service.work.pictures import FORMS


def router(offloader: Offloader) -> APIRouter:
    """The routes of graphs."""
    routes = APIRouter(prefix="/v1/programs", tags=["programs"])

    def draws(name: str) -> None:
        @routes.get(f"/{{program}}/graph.{name}", **openapi.GRAPH_OPERATIONS[name])
        async def draw(request: Request, program: str) -> Response:
            query = request.url.query
            return await offloader.answer(request, f"pictures.{name}", program, query)

    for name in FORMS:
        draws(name)
    return routes
