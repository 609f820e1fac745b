"""Stored tensors, which requests refer to."""

from __future__ import annotations

from typing import Any

from gradwire_service.references import ReferenceResolver
from gradwire_service.tasks.request import PARSE, Request, rfc3339
from gradwire_service.tensors.stored import Tensor, Tensors
from gradwire_service.wire.leaves import read_tensor
from gradwire_service.wire.references import is_result
from gradwire_service.wire.shared import Body


class TensorHandlers:
    """Handlers of tasks on tensors and results."""

    def __init__(self, resolver: ReferenceResolver) -> None:
        self._tensors = resolver.tensors
        self._results = resolver.results

    def put(self, request: Request, ref: str | None = None) -> list[Body]:
        """Store a tensor."""
        document = request.document
        with request.phase(PARSE):
            array = read_tensor(document)
        tensor, new = self._tensors.put(request.owner, array, ref)
        request.set_location(f"/v1/tensors/{tensor.ref}", new=new)
        return request.encode(tensor_document(tensor, array.nbytes))

    def look(self, request: Request, ref: str) -> list[Body]:
        """Check that a tensor exists."""
        return self._shown(request, ref, body=False)

    def show(self, request: Request, ref: str) -> list[Body]:
        """Show a tensor."""
        return self._shown(request, ref, body=True)

    def remove(self, request: Request, ref: str) -> list[Body]:
        """Delete a tensor."""
        self._repository(ref).remove(request.owner, ref)
        request.outcome.status = 204
        return []

    def _shown(self, request: Request, ref: str, *, body: bool) -> list[Body]:
        wanted = body and not request.client_has(ref)
        tensor = self._repository(ref).find(request.owner, ref, array=wanted)
        if request.set_etag(ref) or tensor.array is None:
            request.add((b"content-type", request.format.reply_type))
            return []
        return request.encode(tensor.array, "base64")

    def _repository(self, ref: str) -> Tensors:
        return self._results if is_result(ref) else self._tensors


def tensor_document(tensor: Tensor, nbytes: int) -> dict[str, Any]:
    """The description of a stored array in answers, in place of its elements."""
    return {
        "ref": tensor.ref,
        "dtype": tensor.dtype,
        "shape": tensor.shape,
        "nbytes": nbytes,
        "expires_at": rfc3339(tensor.expires_at),
    }
