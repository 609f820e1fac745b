"""Files of values, by what they hold: JSON, ``.npy``, ``.npz``, tables.

``FILE:a,b`` is the members ``a`` and ``b``: columns of a table, arrays of an archive, members of an
object. A table is one matrix, or a vector for each of its columns.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from gradwire_command.problems import UnreadableValues
from gradwire_command.reading.streams import standard_input
from gradwire_command.reading.tables import Table, csv_table, parquet_table
from gradwire_command.session import opened, waiting

NPY, NPZ, PARQUET = b"\x93NUMPY", b"PK\x03\x04", b"PAR1"


@dataclass(frozen=True)
class Held:
    """The content of a file: a document, an array, or a table, and its name in errors."""

    name: str
    value: Any

    def whole(self) -> Any:
        """One value: the document, the array, the arrays of an archive by name, a matrix."""
        return self.value.matrix() if isinstance(self.value, Table) else self.value

    def by_name(self) -> Mapping[str, Any]:
        """Variables by name."""
        if isinstance(self.value, Table):
            return self.value.columns()
        if not isinstance(self.value, Mapping):
            kind = "one array" if isinstance(self.value, np.ndarray) else "no object"
            raise UnreadableValues(
                f"{self.name} has {kind}, and no variables by name",
                hint=f"name it: x=@{self.name}",
            )
        return self.value


def read(given: str) -> Held:
    """The values of ``FILE`` or ``FILE:member,…``; ``-`` is standard input."""
    file, members = _split(given)
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            value = _sniffed(standard_input(), name, members)
        else:
            path = Path(file)
            with waiting(f"reading {name}"), opened(path) as stream:
                value = _by_suffix(path, stream, name, members)
    except OSError as error:
        raise UnreadableValues(f"cannot read {name}: {error.strerror or error}") from error
    except MemoryError as error:
        raise UnreadableValues(f"{name} does not fit into memory") from error
    if members and not isinstance(value, Table):
        value = _members(value, members, name)
    return Held(name, value)


def _split(given: str) -> tuple[str, list[str]]:
    """A file and its members; a file with a colon in its name goes first."""
    file, colon, members = given.rpartition(":")
    if not colon or not file or Path(given).exists():
        return given, []
    if file != "-" and not Path(file).exists():
        return given, []  # such as C:\x.npy, or a file that is missing
    return file, [member.strip() for member in members.split(",")]


def _by_suffix(path: Path, stream: IO[bytes], name: str, members: Sequence[str]) -> Any:
    match path.suffix.lower():
        case ".npy" | ".npz":
            return _numpy(stream, name)
        case ".json":
            return _json(stream.read(), name)
        case ".csv" | ".tsv":
            return csv_table(stream, name, members)
        case ".parquet" | ".pq":
            return parquet_table(stream, name, members)
    return _sniffed(stream.read(), name, members)


def _sniffed(content: bytes, name: str, members: Sequence[str]) -> Any:
    """Values whose form only their first bytes tell; text that is not JSON is CSV."""
    if content.startswith((NPY, NPZ)):
        return _numpy(io.BytesIO(content), name)
    if content.startswith(PARQUET):
        return parquet_table(io.BytesIO(content), name, members)
    if content.lstrip().startswith((b"{", b"[")):
        return _json(content, name)
    try:
        return json.loads(content)
    except ValueError:
        return csv_table(io.BytesIO(content), name, members)


def _numpy(stream: IO[bytes], name: str) -> Any:
    start = stream.read(len(NPY))
    stream.seek(0)
    if not start.startswith((NPY, NPZ)):
        raise UnreadableValues(f"{name} is no file of numpy.save or numpy.savez")
    try:
        loaded = np.load(stream, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded as archive:
            return {member: archive[member] for member in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        told = "it holds objects of Python" if "Object arrays" in f"{error}" else f"{error}"
        raise UnreadableValues(f"{name} is no file of plain arrays: {told}") from error


def _json(content: bytes, name: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"{name} is not JSON, and no text in UTF-8 (byte {error.start + 1})"
        raise UnreadableValues(problem) from error
    except json.JSONDecodeError as error:
        problem = f"{name} is not JSON: {error.msg}"
        raise UnreadableValues(problem, excerpt=excerpt(error)) from error


def excerpt(error: json.JSONDecodeError, width: int = 72) -> list[str]:
    """The line that is not JSON, or the part of it around the place, with a caret."""
    line = error.doc.splitlines()[error.lineno - 1] if error.doc else ""
    start = max(0, error.colno - 1 - width // 2) if len(line) > width else 0
    label = f"  line {error.lineno}: "
    shown = line[start : start + width]
    return [label + shown, " " * (len(label) + error.colno - 1 - start) + "^"] if shown else []


def _members(value: Any, members: Sequence[str], name: str) -> Any:
    if not isinstance(value, Mapping):
        raise UnreadableValues(f"{name} has no members, but one array or list")
    missing = [member for member in members if member not in value]
    if missing:
        known = ", ".join(map(str, list(value)[:12]))
        raise UnreadableValues(f"{name} has no {missing[0]}", hint=f"it has {known or 'nothing'}")
    if len(members) == 1:
        return value[members[0]]
    return {member: value[member] for member in members}
