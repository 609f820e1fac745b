"""The row groups of a Parquet dataset in their order, and the index of its rows."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias

from gradwire_service.cluster.confinement import is_url
from gradwire_service.problems import clip


class Counted(NamedTuple):
    """An index that is no column: the first row's number, and the step from row to row."""

    first: int
    step: int


#: The index of a row group: the names of columns, or numbers.
Index: TypeAlias = tuple[str, ...] | Counted


class Group(NamedTuple):
    """A row group of a file; its ``labels`` are the index of its rows, if there is one."""

    file: str
    number: int
    rows: int
    labels: Index | None = None


class Numbers(NamedTuple):
    """The numbers of a file's rows; the step is 0 where it is not known."""

    least: int
    most: int
    step: int = 0


class File(NamedTuple):
    """A file: its path in the dataset, its row groups, columns' types, and rows' numbers."""

    name: str
    groups: tuple[Group, ...]
    types: Mapping[str, Any]
    numbers: Numbers | None


def read_dataset(address: str) -> tuple[list[Group], list[Mapping[str, Any]]]:
    """The row groups of a file, or of all ``*.parquet`` in a folder, in order; columns' types.

    Row groups of a folder are ordered as its ``_metadata`` lists them, else as their rows are
    numbered, else by the files' names, in which numbers compare as numbers.

    Raises: ``OSError``; ``ValueError`` where ``_metadata`` lists others than there are.
    """
    from fsspec.core import url_to_fs

    system, path = url_to_fs(address)
    if not system.isdir(path):
        file = _read(address, address)
        return [*file.groups], [file.types]
    found = {full[len(path) :].lstrip("/"): full for full in system.find(path)}
    if is_url(address):
        found = {name: system.unstrip_protocol(full) for name, full in found.items()}
    files = [_read(name, found[name]) for name in sorted(filter(_is_data, found), key=_natural)]
    listed = _listed(found["_metadata"]) if "_metadata" in found else []
    ordered = _by_list(files, listed) if listed else _by_numbers(files)
    return ordered, [file.types for file in files]


def has_index(groups: Sequence[Group]) -> bool:
    """True if all rows have an index. Numbers that begin at 0 in each of several files are none."""
    firsts = [group.labels for group in groups if group.number == 0]
    begins_anew = len(firsts) > 1 and {*firsts} == {Counted(0, 1)}
    return not begins_anew and all(group.labels is not None for group in groups)


@contextmanager
def opened_parquet(file: str) -> Iterator[Any]:
    """A file in a folder or below a URL."""
    from pyarrow.parquet import ParquetFile

    if not is_url(file):
        with ParquetFile(file) as opened:
            yield opened
        return
    import fsspec

    with fsspec.open(file) as stream, ParquetFile(stream) as opened:
        yield opened


# Order


def _is_data(name: str) -> bool:
    """True for ``*.parquet``, unless a part of its path is hidden: ``.x``, ``_temporary``."""
    parts = name.split("/")
    hidden = (part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts)
    return name.endswith(".parquet") and not any(hidden)


def _natural(name: str) -> tuple[list[str | int], str]:
    """Orders names as Dask does: part.2 before part.10, year=9 before year=10."""
    parts = re.split(r"(\d+)", name)  # every other part is a number
    return [int(part) if i % 2 else part for i, part in enumerate(parts)], name


def _by_list(files: Sequence[File], listed: Sequence[tuple[str, int]]) -> list[Group]:
    """Row groups as a list of files' names and numbers of rows orders them."""
    left = {(file.name, group.number): group for file in files for group in file.groups}
    found, seen = [], defaultdict[str, int](int)
    for name, rows in listed:
        group = left.pop((name, seen[name]), None)
        seen[name] += 1
        if group is None or group.rows != rows:
            raise ValueError(
                f"_metadata lists {rows} rows of {clip(name, 200)} that are not there: write the "
                "dataset again, or remove _metadata"
            )
        found.append(group)
    for name, _ in left:
        raise ValueError(
            f"_metadata does not list all rows of {clip(name, 200)}: write it again, or remove it"
        )
    return found


def _by_numbers(files: Sequence[File]) -> list[Group]:
    """Row groups as files are ordered, unless all rows have numbers that say another order."""
    numbered = [(file.numbers, file) for file in files if file.numbers is not None]
    given = [numbers for numbers, _ in numbered]
    rising, steps = sorted(given), {numbers.step for numbers in given}
    is_disjoint = all(one.most < other.least for one, other in pairwise(rising))
    if len(numbered) == len(files) and len(steps) == 1 and is_disjoint:
        (step,) = steps  # of a column only its least and largest number are known: both ways count
        is_falling = step < 0 or (step == 0 and given == rising[::-1])
        numbered.sort(key=lambda item: item[0], reverse=is_falling)
        files = [file for _, file in numbered]
    return [group for file in files for group in file.groups]


def _listed(file: str) -> list[tuple[str, int]]:
    """The files and numbers of rows that a ``_metadata`` lists; none where it names no files."""
    with opened_parquet(file) as opened:
        metadata = opened.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    listed = [(group.column(0).file_path, group.num_rows) for group in groups]
    return listed if all(name for name, _ in listed) else []


# Files


def _read(name: str, address: str) -> File:
    with opened_parquet(address) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
    types = {column: schema.field(column).type for column in schema.names}
    rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    labels: list[Index | None] = [None] * len(rows)
    numbers = None
    match json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns"):
        case [{"kind": "range", "start": int(start), "stop": int(stop), "step": int(step)}]:
            span = range(start, stop, step)
            if len(span) == sum(rows) > 0:  # else these are rows of another table
                numbers = Numbers(min(span[0], span[-1]), max(span[0], span[-1]), step)
                firsts = [0, *accumulate(rows)][:-1]
                labels = [Counted(start + step * first, step) for first in firsts]
        case [str(), *_] as columns if all(column in types for column in columns):
            numbers = _numbers(metadata, columns)
            labels = [tuple(columns)] * len(rows)
    groups = zip(range(len(rows)), rows, labels, strict=True)
    return File(name, tuple(Group(address, *group) for group in groups), types, numbers)


def _numbers(metadata: Any, columns: Sequence[str]) -> Numbers | None:
    """The numbers in an index of one column, if by its statistics these count the rows."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    if len(columns) > 1 or not metadata.num_rows:
        return None
    paths = [groups[0].column(i).path_in_schema for i in range(metadata.num_columns)]
    at = paths.index(columns[0]) if columns[0] in paths else None
    if at is None:
        return None
    found = [group.column(at).statistics for group in groups]
    if not all(one is not None and one.has_min_max and type(one.min) is int for one in found):
        return None
    least, most = min(one.min for one in found), max(one.max for one in found)
    return Numbers(least, most) if most - least + 1 == metadata.num_rows else None
