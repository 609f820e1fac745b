"""Arrays in chunks: Dask's, published on the cluster on which the service computes, and files.

Nothing of Dask is imported before an array of Dask's is met.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from gradwire.bfloat16 import dtype_of, name_of
from gradwire.environment import variable
from gradwire.errors import UsageError
from gradwire.messagepack import DTYPES
from gradwire.stored import RemoteArray
from gradwire.usage import used

#: The name of a tenant, with which names of datasets begin where keys isolate tenants.
TENANT = "GRADWIRE_TENANT"


class ChunkedArray(RemoteArray):
    """An array whose rows lie on the service's Dask cluster, or in files that its workers read.

    ``reference`` is ``{"dask": name}`` of a published dataset, ``{"zarr": path}``, or
    ``{"parquet": path, "columns": …}``; a path is relative to the service's folder of data. Chunks
    that a Zarr array deliberately leaves out are its fill value by ``{"zarr": path, "missing":
    "fill"}``; else a missing chunk is an error. Rows are cast to the ``dtype``.

    >>> x = gradwire.ChunkedArray({"zarr": "train/x.zarr"}, (10_000_000, 20), np.float32)
    >>> client.minimize(loss, start, (x, y))
    """

    __slots__ = ("dtype", "reference", "shape")

    where: ClassVar[str] = "on a cluster"
    hint: ClassVar[str] = "it can be an argument of what client.minimize and the others optimise"

    def __init__(
        self, reference: Mapping[str, Any], shape: Sequence[int], dtype: DTypeLike = np.float64
    ) -> None:
        with used("a chunked array's reference, shape and dtype"):
            self.reference: Mapping[str, Any] = dict(reference)
            self.shape: tuple[int, ...] = tuple(map(int, shape))
            self.dtype: np.dtype[Any] = dtype_of(dtype)

    def __repr__(self) -> str:
        return f"ChunkedArray({self.reference!r}, {self.shape}, {self.dtype})"

    def leaf(self) -> Mapping[str, Any]:
        """The leaf of a request that refers to it: its shape is checked, its rows are cast."""
        return {**self.reference, "shape": [*self.shape], "dtype": name_of(self.dtype)}


def is_dask(value: Any) -> bool:
    """True for an array of Dask's."""
    kind = type(value)
    return kind.__module__.startswith("dask.") and hasattr(value, "__dask_graph__")


def published(array: Any) -> ChunkedArray:
    """A Dask array, persisted and published on the current ``distributed.Client``.

    The name has a token of how the array is computed, so that the same array is published once; it
    stays until ``client.unpublish_dataset(name)``. It begins with the tenant that the environment's
    ``GRADWIRE_TENANT`` names, as the service asks of names where API keys isolate tenants.
    """
    if not hasattr(array, "chunks"):
        kind = type(array).__name__
        raise UsageError(f"a Dask {kind} is not an array", hint="frame.to_dask_array(lengths=True)")
    if any(math.isnan(length) for length in array.shape):
        raise UsageError(
            f"the shape of the Dask array {array.name} is not known, it is {array.shape}",
            hint="call array.compute_chunk_sizes() before",
        )
    if name_of(array.dtype) not in DTYPES:
        raise UsageError(
            f"the Dask array {array.name} is of dtype {array.dtype}: expected numbers or booleans",
            hint="array.astype(float) has numbers",
        )
    cluster = _current_client(array)
    from dask.base import tokenize  # noqa: PLC0415 - it is there, as its array is

    tenant = variable(TENANT)
    name = f"{tenant}/gradwire-{tokenize(array)}" if tenant else f"gradwire-{tokenize(array)}"
    if name not in cluster.list_datasets():
        with suppress(KeyError):  # another thread or process was faster
            cluster.publish_dataset(cluster.persist(array), name=name)
    return ChunkedArray({"dask": name}, array.shape, array.dtype)


def _current_client(array: Any) -> Any:
    problem = f"the Dask array {array.name} is a variable, but there is no cluster that has it"
    hint = "connect to the service's cluster: distributed.Client('tcp://…')"
    try:
        current: Any = import_module("distributed").default_client()
    except (ModuleNotFoundError, ValueError) as error:
        raise UsageError(problem, hint=hint) from error
    if current.asynchronous:
        raise UsageError("the current distributed.Client is asynchronous", hint=hint)
    return current
