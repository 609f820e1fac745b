"""``/v1/programs``: stored programs, which requests refer to."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import openapi
from gradwire_service.routes.offload import Offloader

#: Default number of programs on a page.
_PAGE = "100"


def router(offloader: Offloader) -> APIRouter:
    """The routes of programs."""
    routes = APIRouter(prefix="/v1/programs", tags=["programs"])

    @routes.post("", **openapi.PROGRAM_OPERATIONS["register"])
    async def register(request: Request) -> Response:
        return await offloader.answer(request, "programs.register")

    @routes.get("", **openapi.PROGRAM_OPERATIONS["all"])
    async def programs(request: Request) -> Response:
        query = request.query_params
        after, limit = query.get("after", ""), query.get("limit", _PAGE)
        return await offloader.answer(request, "programs.all", after, limit)

    @routes.get("/{program}", **openapi.PROGRAM_OPERATIONS["show"])
    async def show(request: Request, program: str) -> Response:
        return await offloader.answer(request, "programs.show", program)

    @routes.delete("/{program}", **openapi.PROGRAM_OPERATIONS["remove"])
    async def remove(request: Request, program: str) -> Response:
        return await offloader.answer(request, "programs.remove", program)

    return routes
