"""``/v1/tensors``: stored arrays, which requests refer to."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import openapi
from gradwire_service.routes.offload import Offloader


def router(offloader: Offloader) -> APIRouter:
    """The routes of tensors."""
    routes = APIRouter(prefix="/v1/tensors", tags=["tensors"])

    @routes.put("", **openapi.TENSOR_OPERATIONS["put"])
    async def put(request: Request) -> Response:
        return await offloader.answer(request, "tensors.put")

    @routes.put("/{ref}", **openapi.TENSOR_OPERATIONS["put_as"])
    async def put_as(request: Request, ref: str) -> Response:
        return await offloader.answer(request, "tensors.put", ref)

    @routes.get("/{ref}", **openapi.TENSOR_OPERATIONS["show"])
    async def show(request: Request, ref: str) -> Response:
        return await offloader.answer(request, "tensors.show", ref)

    @routes.head("/{ref}", **openapi.TENSOR_OPERATIONS["look"])
    async def look(request: Request, ref: str) -> Response:
        return await offloader.answer(request, "tensors.look", ref)

    @routes.delete("/{ref}", **openapi.TENSOR_OPERATIONS["remove"])
    async def remove(request: Request, ref: str) -> Response:
        return await offloader.answer(request, "tensors.remove", ref)

    return routes
