"""Tables of numbers: CSV by NumPy, Parquet by pyarrow.

CSV is read by NumPy alone, also where pandas is installed, so that a file means the same
everywhere: cells are float64, ``nan`` and ``inf`` included, and an empty or other cell is an error
with its row and its column. Parquet keeps its dtypes; what is null there is NaN.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gradwire_command.problems import MissingLibrary, UnreadableValues

DELIMITERS = (",", ";", "\t")

#: What NumPy says of a cell, and of a row of another length.
_CELL = re.compile(r"could not convert string '(.*)' to \w+ at row \d+, column (\d+)", re.DOTALL)
_LENGTH = re.compile(r"the number of columns changed from (\d+) to (\d+) at row")


@dataclass(frozen=True)
class Table:
    """Columns of numbers, and their names where the file has a head."""

    name: str
    head: Sequence[str] | None
    #: By column, all of one length.
    values: Sequence[NDArray[Any]]

    def matrix(self) -> NDArray[Any]:
        """All columns side by side; one column is a vector."""
        if len(self.values) == 1:
            return self.values[0]
        return np.stack(self.values, axis=1)

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Each column by its name."""
        if self.head is None:
            hint = f"x=@{self.name} is all of it, as one matrix"
            raise UnreadableValues(f"the first row of {self.name} has no names", hint=hint)
        for column in self.head:
            if not column.isidentifier() or self.head.count(column) > 1:
                why = "is there twice" if column.isidentifier() else "is no name of a variable"
                raise UnreadableValues(
                    f"{self.name} has a column {column!r}, which {why}",
                    hint=f"choose columns, {self.name}:a,b, or take x=@{self.name}, one matrix",
                )
        return dict(zip(self.head, self.values, strict=True))


class Lines:
    """The lines of a text, one by one, and the number of the last."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.number: int = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._text)
        self.number += 1
        return line


def csv_table(stream: IO[bytes], name: str, columns: Sequence[str] = ()) -> Table:
    """The columns of a CSV file; a first row that is not all numbers is its head."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    lines = Lines(text)
    head: list[str] | None = None
    try:
        first = next((line for line in lines if line.strip()), "")
        if not first:
            raise UnreadableValues(f"{name} is empty")
        delimiter = next((each for each in DELIMITERS if each in first), ",")
        cells = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
        head = None if all(map(_is_number, cells)) else cells
        chosen = _chosen(head, columns, name)
        with warnings.catch_warnings(action="ignore"):  # of no rows, which is said below
            values = np.loadtxt(
                lines if head else itertools.chain([first], lines),
                delimiter=delimiter,
                quotechar='"',
                comments=None,
                ndmin=2,
                usecols=chosen,
            )
    except UnicodeDecodeError as error:
        problem = f"{name} is not CSV: it is no text in UTF-8 (after line {lines.number})"
        raise UnreadableValues(problem) from error
    except ValueError as error:
        raise UnreadableValues(_said(f"{error}", name, head, lines.number)) from error
    finally:
        text.detach()  # or it would close the stream
    if values.size == 0:
        raise UnreadableValues(f"{name} has names of columns and no rows")
    if head is not None and chosen is None and len(head) != values.shape[1]:
        counts = f"{len(head)} names of columns and {values.shape[1]} columns"
        raise UnreadableValues(f"{name} has {counts}")
    names = head if chosen is None or head is None else [head[i] for i in chosen]
    return Table(name, names, list(values.T.copy()))


def parquet_table(stream: IO[bytes], name: str, columns: Sequence[str] = ()) -> Table:
    """The columns of a Parquet file, which pyarrow reads."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise MissingLibrary(
            f"{name} is Parquet, which is read by pyarrow, not installed here",
            hint="pip install 'gradwire[parquet]'",
        ) from error
    try:
        file = parquet.ParquetFile(stream)
        _chosen(file.schema_arrow.names, columns, name)
        read = file.read(columns=list(columns) or None)
    except pyarrow.ArrowException as error:
        raise UnreadableValues(f"{name} is not Parquet: {error}") from error
    values = []
    for column in read.column_names:
        array = np.asarray(read[column].to_numpy())
        if array.dtype.kind not in "biuf":
            raise UnreadableValues(
                f"the column {column} of {name} has {read[column].type}, and no numbers",
                hint=f"choose columns by name: {name}:a,b",
            )
        values.append(array)
    return Table(name, read.column_names, values)


def _chosen(head: Sequence[str] | None, columns: Sequence[str], name: str) -> list[int] | None:
    """The positions of columns by their names."""
    if not columns:
        return None
    known = list(head or ())
    missing = [column for column in columns if column not in known]
    if missing:
        hint = f"it has {', '.join(known[:12])}" if known else "its first row has no names"
        raise UnreadableValues(f"{name} has no column {missing[0]}", hint=hint)
    return [known.index(column) for column in columns]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _said(error: str, name: str, head: Sequence[str] | None, line: int) -> str:
    """NumPy's complaint about a file, with the line, and the column by its name."""
    if found := _CELL.search(error):
        cell, column = found[1], int(found[2]) - 1
        where = f"column {head[column]}" if head and column < len(head) else f"column {column + 1}"
        what = repr(cell) if cell.strip() else "an empty cell"
        return f"{name} has {what} in line {line}, {where}: expected a number"
    if found := _LENGTH.search(error):
        return f"{name} has {found[2]} cells in line {line}, and {found[1]} before"
    return f"{name} is no table of numbers: {error} (line {line})"
