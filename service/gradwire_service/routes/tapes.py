"""``/v1/tapes``: programs recorded once, then differentiated by any number of queries."""

from __future__ import annotations

from fastapi import APIRouter, Request
from gradwire_engine.answer import Kind
from starlette.responses import Response

from gradwire_service import openapi
from gradwire_service.routes.offload import Offloader


def router(offloader: Offloader) -> APIRouter:
    """The routes of tapes."""
    routes = APIRouter(prefix="/v1/tapes", tags=["tapes"])

    @routes.post("", **openapi.TAPE_OPERATIONS["create"])
    async def create(request: Request) -> Response:
        return await offloader.answer(request, "tapes.create")

    def asks(kind: Kind) -> None:
        @routes.post(f"/{{tape}}/{kind}", **openapi.TAPE_OPERATIONS[kind])
        async def ask(request: Request, tape: str) -> Response:
            return await offloader.answer(request, "tapes.ask", tape, kind, home=tape)

    for kind in openapi.TAPE_KINDS:
        asks(kind)

    @routes.get("/{tape}", **openapi.TAPE_OPERATIONS["show"])
    async def show(request: Request, tape: str) -> Response:
        return await offloader.answer(request, "tapes.show", tape, home=tape)

    @routes.delete("/{tape}", **openapi.TAPE_OPERATIONS["remove"])
    async def remove(request: Request, tape: str) -> Response:
        return await offloader.answer(request, "tapes.remove", tape, home=tape)

    return routes
