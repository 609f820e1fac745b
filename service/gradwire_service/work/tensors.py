"""Stored tensors, which requests refer to."""

from __future__ import annotations

from gradwire_service.tensors import Tensors
from gradwire_service.wire.leaves import read_tensor
from gradwire_service.wire.shared import Body
from gradwire_service.work.request import PARSE, Request, rfc3339


class TensorHandlers:
    """Handlers of tasks on tensors."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def put(self, request: Request, ref: str | None = None) -> list[Body]:
        """Store a tensor."""
        document = request.document
        with request.phase(PARSE):
            array = read_tensor(document)
        tensor, new = self._tensors.put(request.owner, array, ref)
        request.set_location(f"/v1/tensors/{tensor.ref}", new=new)
        return request.encode(
            {
                "ref": tensor.ref,
                "dtype": tensor.dtype,
                "shape": tensor.shape,
                "nbytes": array.nbytes,
                "expires_at": rfc3339(tensor.expires_at),
            }
        )

    def look(self, request: Request, ref: str) -> list[Body]:
        """Check that a tensor exists."""
        return self._shown(request, ref, body=False)

    def show(self, request: Request, ref: str) -> list[Body]:
        """Show a tensor."""
        return self._shown(request, ref, body=True)

    def remove(self, request: Request, ref: str) -> list[Body]:
        """Delete a tensor."""
        self._tensors.remove(request.owner, ref)
        request.outcome.status = 204
        return []

    def _shown(self, request: Request, ref: str, *, body: bool) -> list[Body]:
        tensor = self._tensors.find(request.owner, ref, array=body and not request.client_has(ref))
        if request.set_etag(ref) or tensor.array is None:
            request.add((b"content-type", request.format.reply_type))
            return []
        return request.encode(tensor.array, "base64")
