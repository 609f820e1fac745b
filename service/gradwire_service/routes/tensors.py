"""``/v1/tensors``: arrays that are sent once, and then referred to."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import documents
from gradwire_service.parts import Parts
from gradwire_service.routes.exchange import PARSE, when
from gradwire_service.routes.resources import Desk, ResourceExchange
from gradwire_service.tensors import Tensors
from gradwire_service.wire.body import Body
from gradwire_service.wire.codec import DOWNLOADS, UPLOADS
from gradwire_service.wire.leaves import read_tensor


class Upload(ResourceExchange):
    """A request with a tensor, which may be an ``.npy`` file."""

    offer = UPLOADS


class Download(ResourceExchange):
    """A request for a tensor, which may be wanted as an ``.npy`` file."""

    offer = DOWNLOADS


class Answering:
    """What the routes do, each in a thread."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def put(self, x: Upload, ref: str | None = None) -> list[Body]:
        """Keep a tensor."""
        document = x.document
        with x.phase(PARSE):
            array = read_tensor(document)
        tensor, new = self._tensors.put(x.owner, array, ref)
        x.made(f"/v1/tensors/{tensor.ref}", new=new)
        return x.written(
            {
                "ref": tensor.ref,
                "dtype": tensor.dtype,
                "shape": tensor.shape,
                "nbytes": array.nbytes,
                "expires_at": when(tensor.expires_at),
            }
        )

    def show(self, x: Download, ref: str, *, body: bool = True) -> list[Body]:
        """A tensor, or only that it is there."""
        tensor = self._tensors.find(x.owner, ref, array=body and not x.has(ref))
        if x.tag(ref) or tensor.array is None:
            x.further = (*x.further, (b"content-type", x.format.reply_type))
            return []
        return x.written(tensor.array, "base64")

    def remove(self, x: ResourceExchange, ref: str) -> list[Body]:
        """Forget a tensor."""
        self._tensors.remove(x.owner, ref)
        x.status = 204
        return []


def router(parts: Parts) -> APIRouter:
    """The routes of tensors."""
    routes = APIRouter(prefix="/v1/tensors", tags=["tensors"])
    settings = parts.settings
    answering, desk = Answering(parts.library.tensors), Desk(parts.capacity, settings)

    @routes.put("", **documents.TENSOR_OPERATIONS["put"])
    async def put(request: Request) -> Response:
        x = Upload(request.scope, settings)
        return await desk.answer(x, request, answering.put)

    @routes.put("/{ref}", **documents.TENSOR_OPERATIONS["put_as"])
    async def put_as(request: Request, ref: str) -> Response:
        x = Upload(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.put(x, ref))

    @routes.get("/{ref}", **documents.TENSOR_OPERATIONS["show"])
    async def show(request: Request, ref: str) -> Response:
        x = Download(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.show(x, ref))

    @routes.head("/{ref}", **documents.TENSOR_OPERATIONS["look"])
    async def look(request: Request, ref: str) -> Response:
        x = Download(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.show(x, ref, body=False))

    @routes.delete("/{ref}", **documents.TENSOR_OPERATIONS["remove"])
    async def remove(request: Request, ref: str) -> Response:
        x = ResourceExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.remove(x, ref))

    return routes
