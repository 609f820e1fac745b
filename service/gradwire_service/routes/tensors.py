"""``/v1/tensors``: arrays that are sent once, and then referred to."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Scope

from gradwire_service import documents
from gradwire_service.capacity import Capacity
from gradwire_service.problems import Refusal
from gradwire_service.routes.exchange import ENCODE, when
from gradwire_service.routes.resources import Desk, ResourceExchange
from gradwire_service.settings import Settings
from gradwire_service.tensors import Tensors
from gradwire_service.wire import npy
from gradwire_service.wire.body import Body
from gradwire_service.wire.codec import CODECS
from gradwire_service.wire.leaves import read_tensor
from gradwire_service.wire.numbers import Array, Malformed
from gradwire_service.wire.preferences import qualities, quality


class TensorExchange(ResourceExchange):
    """One request about tensors, which may come and go as ``.npy`` files, too."""

    def __init__(self, scope: Scope, settings: Settings) -> None:
        header = dict(scope["headers"]).get
        self._sent = _is_npy(header(b"content-type", b""))
        self._wanted = _prefers_npy(header(b"accept", b"").decode("latin-1"))
        of_files = (b"content-type",) * self._sent + (b"accept",) * self._wanted
        headers = [pair for pair in scope["headers"] if pair[0] not in of_files]
        super().__init__({"headers": headers}, settings)

    def array(self) -> Array:
        """The array that was sent.

        Raises: ``Refusal`` (malformed_body, malformed_tensor).
        """
        if not self._sent:
            return read_tensor(self.document)
        try:
            return npy.read_npy(self.body)
        except Malformed as error:
            raise Refusal(error.code, error.detail, hint=error.hint) from None

    def choose_form(self) -> None:
        """Have the response in the form that an array is wanted in."""
        if self._wanted:
            self.format = self.format._replace(reply_type=npy.MEDIA_TYPE.encode())

    def written_array(self, array: Array) -> list[Body]:
        """An array in that form."""
        if not self._wanted:
            document: Any = array
            return self.written(document, "base64")
        with self.phase(ENCODE):
            return npy.write_npy(array)


class Answering:
    """What the routes do, each in a thread."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def put(self, x: TensorExchange, ref: str | None = None) -> list[Body]:
        """Keep a tensor."""
        array = x.array()
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

    def show(self, x: TensorExchange, ref: str, *, body: bool = True) -> list[Body]:
        """A tensor, or only that it is there."""
        x.choose_form()
        tensor = self._tensors.find(x.owner, ref, array=body and not x.has(ref))
        if x.tag(ref) or tensor.array is None:
            x.further = (*x.further, (b"content-type", x.format.reply_type))
            return []
        return x.written_array(tensor.array)

    def remove(self, x: TensorExchange, ref: str) -> list[Body]:
        """Forget a tensor."""
        self._tensors.remove(x.owner, ref)
        x.status = 204
        return []


def router(*, tensors: Tensors, capacity: Capacity, settings: Settings) -> APIRouter:
    """The routes of tensors."""
    routes = APIRouter(prefix="/v1/tensors", tags=["tensors"])
    answering, desk = Answering(tensors), Desk(capacity, settings)

    @routes.put("", **documents.TENSOR_OPERATIONS["put"])
    async def put(request: Request) -> Response:
        x = TensorExchange(request.scope, settings)
        return await desk.answer(x, request, answering.put)

    @routes.put("/{ref}", **documents.TENSOR_OPERATIONS["put_as"])
    async def put_as(request: Request, ref: str) -> Response:
        x = TensorExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.put(x, ref))

    @routes.get("/{ref}", **documents.TENSOR_OPERATIONS["show"])
    async def show(request: Request, ref: str) -> Response:
        x = TensorExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.show(x, ref))

    @routes.head("/{ref}", **documents.TENSOR_OPERATIONS["look"])
    async def look(request: Request, ref: str) -> Response:
        x = TensorExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.show(x, ref, body=False))

    @routes.delete("/{ref}", **documents.TENSOR_OPERATIONS["remove"])
    async def remove(request: Request, ref: str) -> Response:
        x = TensorExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.remove(x, ref))

    return routes


def _is_npy(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == npy.MEDIA_TYPE.encode()


def _prefers_npy(accept: str) -> bool:
    """Whether ``accept`` names ``.npy`` files and nothing that it would rather have."""
    ranges = qualities(accept)
    wanted = ranges.get(npy.MEDIA_TYPE, 0.0)
    return wanted > 0 and wanted >= max(quality(name, ranges) for name in CODECS)
