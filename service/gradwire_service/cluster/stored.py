"""Rows in Zarr arrays and Parquet files. Runs on workers, which see the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from gradwire_service.cluster.confinement import confined
from gradwire_service.cluster.parquet_files import ParquetFiles, ParquetRows, find_parquet
from gradwire_service.cluster.reporting import reported
from gradwire_service.cluster.zarr_arrays import ZarrFile, ZarrRows, find_zarr
from gradwire_service.wire.chunked import ChunkedReference

#: A picklable recipe for rows, which gives the same ones each time.
Rows: TypeAlias = ZarrRows | ParquetRows
Stored: TypeAlias = ZarrFile | ParquetFiles


class FileRequest(NamedTuple):
    """A reference to files, with the path below the data root, and the pointer to it."""

    reference: ChunkedReference
    path: str
    pointer: str


@reported
def describe(requests: Sequence[FileRequest], root: str, isolated: bool) -> list[Stored]:
    """Describe what requests refer to; ``isolated``, what is in the folders of their tenants.

    Raises: ``RemoteError`` (invalid_request, dtype_mismatch, cluster_unavailable).
    """
    found: list[Stored] = []
    for reference, path, pointer in requests:
        within = path.partition("/")[0] if isolated else ""
        address = confined(root, path, pointer, within=within)
        find = find_zarr if reference.columns is None else find_parquet
        found.append(find(address, reference, pointer))
    return found
