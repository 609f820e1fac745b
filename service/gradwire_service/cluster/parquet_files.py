"""Columns of Parquet datasets as rows of numbers. Runs on workers; imports lazily."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from gradwire_service.cluster.casting import cast, target_dtype
from gradwire_service.cluster.parquet_folders import (
    Counted,
    Group,
    has_index,
    opened_parquet,
    read_dataset,
)
from gradwire_service.cluster.reading import damage_reported, invalid, number_dtype, retried
from gradwire_service.cluster.reporting import reported
from gradwire_service.problems import RequestError, clip
from gradwire_service.wire.arrays_in import Array, Dtype
from gradwire_service.wire.chunked import ChunkedReference


class RowRange(NamedTuple):
    """``rows`` rows after the first ``skip`` of these row groups."""

    groups: tuple[Group, ...]
    skip: int
    rows: int

    def spans(self) -> Iterator[tuple[Group, slice]]:
        """The row groups, and which rows of each."""
        skip, left = self.skip, self.rows
        for group in self.groups:
            taken = min(group.rows - skip, left)
            yield group, slice(skip, skip + taken)
            skip, left = 0, left - taken


class ParquetRows(NamedTuple):
    """Rows of columns, cast to a dtype; ``shape`` is that of one row."""

    part: RowRange
    columns: str | tuple[str, ...]
    dtype: Dtype
    shape: tuple[int, ...]

    def read(self) -> Array:
        """The rows: a vector or lists of one column, or a matrix of several."""
        names = [self.columns] if isinstance(self.columns, str) else [*self.columns]
        made, at = np.empty((self.part.rows, *self.shape), self.dtype), 0
        with damage_reported(self.part.groups[0].file):
            for group, rows in self.part.spans():
                table = _table(group, names).slice(rows.start, rows.stop - rows.start)
                into = made[at : at + len(table)]
                for number, name in enumerate(names):
                    values = cast(_numbers(table.column(name)), self.dtype)
                    if isinstance(self.columns, str):
                        into[...] = values
                    else:
                        into[:, number] = values
                at += len(table)
        return made


class ParquetFiles(NamedTuple):
    """Columns of a dataset, whose row groups have these ``chunks``, in rows."""

    columns: str | tuple[str, ...]
    dtype: Dtype
    shape: tuple[int, ...]
    groups: tuple[Group, ...]
    stored: Dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """The rows of each row group."""
        return tuple(group.rows for group in self.groups)

    @property
    def has_index(self) -> bool:
        """True if all rows have an index of pandas' or Dask's."""
        return has_index(self.groups)

    def divided(self, bounds: Sequence[tuple[int, int]]) -> list[ParquetRows]:
        """The recipe of each shard, with the row groups that hold its rows."""
        columns, dtype, shape = self.columns, self.dtype, self.shape[1:]
        return [ParquetRows(part, columns, dtype, shape) for part in self.parts(bounds)]

    def parts(self, bounds: Sequence[tuple[int, int]]) -> list[RowRange]:
        """The row groups of each shard."""
        ends = [*accumulate(self.chunks)]
        found = []
        for start, stop in bounds:
            first, last = bisect_right(ends, start), bisect_right(ends, stop - 1)
            skip = start - ends[first] + self.groups[first].rows
            found.append(RowRange(self.groups[first : last + 1], skip, stop - start))
        return found


def find_parquet(address: str, reference: ChunkedReference, pointer: str) -> ParquetFiles:
    """Describe columns of a file, or of all files ``*.parquet`` in a folder, in their order.

    Raises: ``RequestError`` (invalid_request, dtype_mismatch).
    """
    columns = reference.columns
    assert columns is not None
    with damage_reported(address, pointer):
        groups, files = retried(lambda: read_dataset(address))
        kinds: dict[Any, str] = {}
        for types in files:
            for name in (columns,) if isinstance(columns, str) else columns:
                if name not in types:
                    hint = f"the columns are {clip(', '.join(types), 200)}"
                    raise invalid(f"there is no column {clip(name, 80)}", pointer, hint)
                kinds.setdefault(types[name], name)
        rows = sum(group.rows for group in groups)
        if not rows:
            raise ValueError("it has no rows")
        dtype, stored, trailing = _columns(reference, kinds, pointer)
        return ParquetFiles(columns, dtype, (rows, *trailing), tuple(groups), stored)


@reported
def check_equal_index(
    paths: tuple[str, str], first: RowRange, second: RowRange, pointer: str
) -> None:
    """Check that the rows of two variables have the same index. Runs on a worker.

    Raises: ``RemoteError`` (invalid_request, cluster_unavailable).
    """
    with damage_reported(first.groups[0].file, pointer):
        one = _index(first)
    with damage_reported(second.groups[0].file, pointer):
        other = _index(second)
    if len(one) == len(other) and all(map(_are_equal, one, other)):
        return
    raise invalid(
        f"the rows of {paths[0]} and {paths[1]} have different indexes",
        pointer,
        "write both in the same order with the same index; or without one, where their rows belong "
        "together as they are: to_parquet(…, index=False), in Dask write_index=False",
    )


def _columns(
    reference: ChunkedReference, kinds: dict[Any, str], pointer: str
) -> tuple[Dtype, Dtype, tuple[int, ...]]:
    """The dtype of columns, the widest that is stored, and the shape of a row.

    ``kinds`` are the columns' types, with the first column of each.
    """
    columns = reference.columns
    assert columns is not None
    found = {kind: _element(kind) for kind in kinds}
    if len(kinds) > 1 and (reference.dtype is None or len({s for _, s in found.values()}) > 1):
        (one, first), (other, second), *_ = kinds.items()
        hint = "store them with one type, name them as several variables"
        raise RequestError(
            "dtype_mismatch",
            f"columns of one variable need equal types, got {one} in {first} and {other} in "
            f"{second}",
            pointer=pointer,
            hint=f'{hint}, or name a dtype that both are cast to: "dtype": "float64"',
        )
    trailing: tuple[int, ...] = () if isinstance(columns, str) else (len(columns),)
    stored = []
    for kind, sizes in found.values():
        if sizes and not isinstance(columns, str):
            detail = "a column of lists is a variable of its own"
            raise invalid(detail, pointer, f'name it alone: "columns": "{columns[0][:80]}"')
        try:
            dtype = np.dtype(kind.to_pandas_dtype())
        except NotImplementedError:
            dtype = np.dtype(object)
        stored.append(number_dtype(dtype, pointer))
        trailing = trailing or sizes
    targets = {target_dtype(dtype, reference.dtype, pointer) for dtype in stored}
    (wanted,) = targets
    return wanted, max(stored, key=lambda dtype: dtype.itemsize), trailing


def _element(kind: Any) -> tuple[Any, tuple[int, ...]]:
    """The type of elements in lists of fixed lengths, and these lengths."""
    sizes: tuple[int, ...] = ()
    while (size := getattr(kind, "list_size", None)) is not None:
        sizes, kind = (*sizes, size), kind.value_type
    return kind, sizes


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


def _index(part: RowRange) -> list[Any]:
    """The index of rows, each level an array of Arrow's."""
    import pyarrow

    levels: list[list[Any]] = []
    for group, rows in part.spans():
        if isinstance(group.labels, Counted):
            first, step = group.labels
            numbers = first + step * np.arange(rows.start, rows.stop, dtype=np.int64)
            columns = [pyarrow.chunked_array([numbers])]
        else:
            table = _table(group, [*(group.labels or ())])
            columns = table.slice(rows.start, rows.stop - rows.start).columns
        levels.append(columns)
    chunks = zip(*levels, strict=True)
    return [pyarrow.concat_arrays([c for one in each for c in one.chunks]) for each in chunks]


def _are_equal(one: Any, other: Any) -> bool:
    """True for equal levels of an index, of types of which one is cast to the other."""
    import pyarrow

    for values, like in ((one, other), (other, one)):
        try:
            return bool(values.cast(like.type).equals(like))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            continue
    return False


def _table(group: Group, names: list[str]) -> Any:
    def read() -> Any:
        with opened_parquet(group.file) as opened:
            return opened.read_row_group(group.number, columns=names, use_threads=False)

    return retried(read)
