"""Arrays that were published on a Dask scheduler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwire_engine.answer import Poll

from gradwire_service.cluster.casting import target_dtype
from gradwire_service.cluster.connection import ClusterConnection
from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import DTYPES, Dtype
from gradwire_service.wire.chunked import ChunkedReference

if TYPE_CHECKING:
    from distributed import Client


class Published(NamedTuple):
    """A Dask array whose first axis has these ``chunks``, in rows."""

    name: str
    array: Any
    dtype: Dtype
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    stored: Dtype

    def divided(self, bounds: Sequence[tuple[int, int]]) -> list[Any]:
        """The block of each shard; where the array is divided like this already, as it is."""
        rows = tuple(stop - start for start, stop in bounds)
        array = self.array.rechunk((rows, *((size,) for size in self.shape[1:])))
        return [*array.to_delayed().ravel()]

    def has_failed(self, key: Any, blocks: Sequence[Any]) -> bool:
        """True if a task that has failed is of this array, or of the graph of its ``blocks``.

        What a persisted array was computed from is known to the scheduler alone.
        """
        from distributed import futures_of

        return any(key in one.__dask_graph__() for one in (self.array, *blocks)) or any(
            future.status == "error" for future in futures_of(self.array)
        )


def find_published(
    connection: ClusterConnection,
    client: Client,
    reference: ChunkedReference,
    pointer: str,
    poll: Poll,
) -> Published:
    """The array that was published under a name, and is cast to a dtype.

    Raises: ``RequestError`` (invalid_request, dtype_mismatch, cluster_unavailable).
    """
    import dask.array

    name = reference.name
    found = connection.wait(
        client, lambda: client.get_dataset(name, default=None, asynchronous=True), poll
    )
    hint = "publish a Dask array: client.publish_dataset(array.persist(), name=…)"
    if found is None:
        detail = f"no dataset {name[:200]} is published"
    elif not isinstance(found, dask.array.Array):
        detail = f"the dataset is no Dask array, but a {type(found).__name__}"
    elif not found.ndim or not found.shape[0]:
        detail = "the array has no rows"
    elif any(math.isnan(size) for size in found.shape):
        detail, hint = "the shape of the array is not known", "call array.compute_chunk_sizes()"
    else:
        if (dtype := DTYPES.get(found.dtype.name)) is None:
            raise RequestError(
                "dtype_mismatch",
                f"the values have the dtype {found.dtype}",
                pointer=pointer,
                hint=f"publish numbers: {', '.join(DTYPES)}",
            )
        wanted = target_dtype(dtype, reference.dtype, pointer)
        return Published(name, found, wanted, found.shape, found.chunks[0], dtype)
    raise RequestError("invalid_request", detail, pointer=pointer, hint=hint)
