"""Rows in Zarr arrays and Parquet files. Runs on workers, which see the files; imports lazily."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from gradwire_service.cluster.confinement import confined, is_url
from gradwire_service.cluster.reporting import reported
from gradwire_service.problems import RequestError, clip
from gradwire_service.wire.chunked import ChunkedReference
from gradwire_service.wire.numbers import DTYPES, Array, Dtype

Value = TypeVar("Value")
#: Seconds before a failed read is tried again: object stores and network disks fail for moments.
_RETRY_SECONDS = (0.1, 1.0)
#: What damaged or strange files raise, each time.
_DAMAGED = (ValueError, KeyError, TypeError, RuntimeError, NotImplementedError)


class ZarrRows(NamedTuple):
    """The rows ``start`` to ``stop`` of an array."""

    address: str
    start: int
    stop: int

    def read(self) -> Array:
        """The rows, in the byte order of this machine."""
        with _damage_reported(self.address):
            rows = np.asarray(_retried(lambda: _zarr(self.address)[self.start : self.stop]))
            return np.asarray(rows, rows.dtype.newbyteorder("="))


class ParquetRows(NamedTuple):
    """``rows`` rows after the first ``skip`` of these row groups, each of a file."""

    groups: tuple[tuple[str, int], ...]
    columns: str | tuple[str, ...]
    skip: int
    rows: int

    def read(self) -> Array:
        """The rows: a vector or lists of one column, or a matrix of several."""
        import pyarrow

        names = [self.columns] if isinstance(self.columns, str) else [*self.columns]
        with _damage_reported(self.groups[0][0]):
            tables = [_retried(partial(_table, *group, names)) for group in self.groups]
            table = pyarrow.concat_tables(tables).slice(self.skip, self.rows)
            del tables
            if isinstance(self.columns, str):
                return _numbers(table.column(self.columns))
            first = _numbers(table.column(names[0]))
            matrix = np.empty((len(first), len(names)), first.dtype)
            for at, name in enumerate(names):
                matrix[:, at] = _numbers(table.column(name))
            return matrix


#: A picklable recipe for rows, which gives the same ones each time.
Rows: TypeAlias = ZarrRows | ParquetRows


class ZarrFile(NamedTuple):
    """An array whose first axis has these ``chunks``, in rows."""

    address: str
    dtype: Dtype
    shape: tuple[int, ...]
    chunks: tuple[int, ...]

    def divided(self, bounds: Sequence[tuple[int, int]]) -> list[ZarrRows]:
        """The recipe of each shard."""
        return [ZarrRows(self.address, start, stop) for start, stop in bounds]


class ParquetFiles(NamedTuple):
    """Columns of a file or a folder of files, with the row groups and how many rows each has."""

    columns: str | tuple[str, ...]
    dtype: Dtype
    shape: tuple[int, ...]
    groups: tuple[tuple[str, int], ...]
    chunks: tuple[int, ...]

    def divided(self, bounds: Sequence[tuple[int, int]]) -> list[ParquetRows]:
        """The recipe of each shard, with the row groups that hold its rows."""
        ends = [*accumulate(self.chunks)]
        found = []
        for start, stop in bounds:
            first, last = bisect_right(ends, start), bisect_right(ends, stop - 1)
            skip, groups = start - ends[first] + self.chunks[first], self.groups[first : last + 1]
            found.append(ParquetRows(groups, self.columns, skip, stop - start))
        return found


Stored: TypeAlias = ZarrFile | ParquetFiles


class Request(NamedTuple):
    """A reference to files, with the path below the data root, and the pointer to it."""

    reference: ChunkedReference
    path: str
    pointer: str


@reported
def describe(requests: Sequence[Request], root: str, isolated: bool) -> list[Stored]:
    """Describe what requests refer to; ``isolated``, what is in the folders of their tenants.

    Raises: ``RemoteError`` (invalid_request, dtype_mismatch, cluster_unavailable).
    """
    found: list[Stored] = []
    for reference, path, pointer in requests:
        within = path.partition("/")[0] if isolated else ""
        address = confined(root, path, pointer, within=within)
        if reference.columns is None:
            found.append(find_zarr(address, pointer))
        else:
            found.append(find_parquet(address, reference.columns, pointer))
    return found


def find_zarr(address: str, pointer: str) -> ZarrFile:
    """Describe an array.

    Raises: ``RequestError`` (invalid_request, dtype_mismatch).
    """
    with _damage_reported(address, pointer):
        array = _retried(lambda: _zarr(address))
        if not array.shape:
            raise ValueError("it has no axes")
        rows, step = array.shape[0], max(array.chunks[0], 1)
        if not rows:
            raise ValueError("it has no rows")
        chunks = (*(step for _ in range(rows // step)), *([rows % step] if rows % step else []))
        return ZarrFile(address, _dtype(array.dtype, pointer), tuple(array.shape), chunks)


def find_parquet(address: str, columns: str | tuple[str, ...], pointer: str) -> ParquetFiles:
    """Describe columns of a file, or of all files ``*.parquet`` in a folder, in their order.

    Raises: ``RequestError`` (invalid_request, dtype_mismatch).
    """
    with _damage_reported(address, pointer):
        groups: list[tuple[str, int]] = []
        chunks: list[int] = []
        kinds: dict[Any, str] = {}
        for file in _retried(lambda: _files(address)):
            with _parquet(file) as opened:
                schema, metadata = opened.schema_arrow, opened.metadata
            for name in (columns,) if isinstance(columns, str) else columns:
                if name not in schema.names:
                    hint = f"the columns are {clip(', '.join(schema.names), 200)}"
                    raise _invalid(f"there is no column {clip(name, 80)}", pointer, hint)
                kinds.setdefault(schema.field(name).type, name)
            for group in range(metadata.num_row_groups):
                groups.append((file, group))
                chunks.append(metadata.row_group(group).num_rows)
        if not sum(chunks):
            raise ValueError("it has no rows")
        return _columns(columns, kinds, tuple(groups), tuple(chunks), pointer)


def _columns(
    columns: str | tuple[str, ...],
    kinds: dict[Any, str],
    groups: tuple[tuple[str, int], ...],
    chunks: tuple[int, ...],
    pointer: str,
) -> ParquetFiles:
    """Check the types of columns, by the first column of each type."""
    if len(kinds) > 1:
        (one, first), (other, second), *_ = kinds.items()
        raise RequestError(
            "dtype_mismatch",
            f"columns of one variable need equal types, got {one} in {first} and {other} in "
            f"{second}",
            pointer=pointer,
            hint="store them with one type, or name them as several variables",
        )
    (kind,) = kinds
    trailing: tuple[int, ...] = () if isinstance(columns, str) else (len(columns),)
    while (size := getattr(kind, "list_size", None)) is not None:
        if not isinstance(columns, str):
            detail = "a column of lists is a variable of its own"
            raise _invalid(detail, pointer, f'name it alone: "columns": "{columns[0][:80]}"')
        trailing, kind = (*trailing, size), kind.value_type
    try:
        dtype = np.dtype(kind.to_pandas_dtype())
    except NotImplementedError:
        dtype = np.dtype(object)
    return ParquetFiles(columns, _dtype(dtype, pointer), (sum(chunks), *trailing), groups, chunks)


def _dtype(dtype: Dtype, pointer: str) -> Dtype:
    """A dtype of numbers, in the byte order of this machine."""
    if dtype.name in DTYPES:
        return DTYPES[dtype.name]
    raise RequestError(
        "dtype_mismatch",
        f"the values have the dtype {dtype}",
        pointer=pointer,
        hint=f"store numbers: {', '.join(DTYPES)}",
    )


def _numbers(column: Any) -> Array:
    """The values of a column, lists as further axes.

    Raises: ``ValueError`` for missing values, which no number stands for.
    """
    values, trailing = column.combine_chunks(), tuple[int, ...]()
    while True:
        if values.null_count:
            raise ValueError("a column has missing values: store numbers, or NaN")
        size = getattr(values.type, "list_size", None)
        if size is None:
            found: Array = values.to_numpy(zero_copy_only=False)
            return found.reshape(-1, *trailing)
        values, trailing = values.flatten(), (*trailing, size)


# Opening


def _zarr(address: str) -> Any:
    import zarr

    return zarr.open_array(address, mode="r")


def _table(file: str, group: int, names: list[str]) -> Any:
    with _parquet(file) as opened:
        return opened.read_row_group(group, columns=names, use_threads=False)


@contextmanager
def _parquet(file: str) -> Iterator[Any]:
    from pyarrow.parquet import ParquetFile

    if not is_url(file):
        with ParquetFile(file) as opened:
            yield opened
        return
    import fsspec

    with fsspec.open(file) as stream, ParquetFile(stream) as opened:
        yield opened


def _files(address: str) -> list[str]:
    """The file itself, or the files ``*.parquet`` of a folder, sorted by name."""
    from fsspec.core import url_to_fs

    system, path = url_to_fs(address)
    if not system.isdir(path):
        return [address]
    return sorted(
        system.unstrip_protocol(found) if is_url(address) else found
        for found in system.find(path)
        if found.endswith(".parquet")
    )


def _retried(read: Callable[[], Value]) -> Value:
    """What ``read`` gives, after an ``OSError`` by trying again."""
    for seconds in _RETRY_SECONDS:
        try:
            return read()
        except FileNotFoundError:
            raise
        except OSError:
            time.sleep(seconds)
    return read()


@contextmanager
def _damage_reported(address: str, pointer: str | None = None) -> Iterator[None]:
    """Report files that are not what they should be.

    Raises: ``RequestError`` (invalid_request; cluster_unavailable if they could not be read).
    """
    name = address.rpartition("/")[2]
    try:
        yield
    except FileNotFoundError as error:
        raise _invalid(f"{name}: no such array or file", pointer, _HINT) from error
    except OSError as error:
        raise RequestError(
            "cluster_unavailable",
            f"{name}: the workers cannot read it: {clip(str(error), 200)}",
            pointer=pointer,
            hint="retry later; all workers need access to GRADWIRE_DATA_ROOT",
            retry_after_seconds=10,
        ) from error
    except _DAMAGED as error:
        raise _invalid(f"{name}: {clip(str(error), 300)}", pointer, _HINT) from error


_HINT = "a path leads to a Zarr array, or to Parquet files"


def _invalid(detail: str, pointer: str | None, hint: str) -> RequestError:
    return RequestError("invalid_request", detail, pointer=pointer, hint=hint)
