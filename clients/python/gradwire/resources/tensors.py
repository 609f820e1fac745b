"""``client.tensors``: arrays that the service stores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradwire.call import Call, Reply
from gradwire.errors import UsageError
from gradwire.methods import AwaitingResource, BlockingResource, sent
from gradwire.stored import StoredTensor
from gradwire.usage import path_part
from gradwire.values import as_array


class TensorMethods:
    """Tensors are stored under the digest of what they hold, until they expire unused.

    The client stores large arrays that it sends again and again by itself. What is put here is
    sent once, also by programs that run only once, and shared with other processes by its ref.
    """

    @sent
    def put(self, array: ArrayLike) -> Call[StoredTensor]:
        """Store an array; variables may have the answer wherever they may have the array.

        It keeps its dtype; as in variables, Python's numbers are float64.

        >>> x = client.tensors.put(np.ones((100_000, 2)))
        >>> client.gradient("mean((x @ w)**2)", {"x": x, "w": [1.0, 2.0]}, sources="w").gradients
        array([6., 6.])
        """
        dense = as_array(array, "the tensor")
        if dense is None:
            raise UsageError(f"expected an array to store, got {type(array).__name__}")
        return Call("PUT", "/v1/tensors", dense, StoredTensor.of)

    @sent
    def get(self, tensor: str | StoredTensor) -> Call[NDArray[Any]]:
        """The values of a stored tensor, by what ``put`` returned or its ref.

        >>> client.tensors.get(client.tensors.put([1.0, 2.0]))
        array([1., 2.])
        """
        return Call("GET", _path(tensor), None, _values)

    @sent
    def delete(self, tensor: str | StoredTensor) -> Call[None]:
        """Delete a tensor now, before it expires.

        >>> client.tensors.delete(client.tensors.put([3.0, 4.0]))
        """
        return Call("DELETE", _path(tensor), None, lambda _: None)


class Tensors(TensorMethods, BlockingResource):
    """The tensors of a ``Client``."""


class AsyncTensors(TensorMethods, AwaitingResource):
    """The tensors of an ``AsyncClient``."""


def _path(tensor: str | StoredTensor) -> str:
    ref = tensor.ref if isinstance(tensor, StoredTensor) else tensor
    return f"/v1/tensors/{path_part(ref, 'a stored tensor or its ref')}"


def _values(reply: Reply) -> NDArray[Any]:
    return np.asarray(reply.document)
