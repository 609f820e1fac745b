"""Read references to chunked variables, whose rows lie on a cluster or in files that it reads."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from gradwire_service.wire.arrays_in import Malformed, dtype_named

#: Where the rows are: a dataset that was published on a Dask scheduler, or files.
ChunkedKind: TypeAlias = Literal["dask", "zarr", "parquet"]
KINDS: tuple[ChunkedKind, ...] = ("dask", "zarr", "parquet")
#: Members of one kind alone.
_FURTHER: dict[ChunkedKind, set[str]] = {"zarr": {"missing"}, "parquet": {"columns"}}
#: The longest name, in characters, and the most columns.
_MOST_TEXT, _MOST_COLUMNS = 1024, 10_000


class ChunkedReference(NamedTuple):
    """A variable by the name of a dataset, or by the path of files; its first axis is divided.

    The ``columns`` of a Parquet file are the last axis of a matrix; a single name gives a vector.
    A program may have been written for a ``shape``. Rows are cast to a ``dtype``. Chunks of Zarr's
    that are ``missing`` are refused, or taken for the array's fill value.
    """

    kind: ChunkedKind
    name: str
    columns: str | tuple[str, ...] | None = None
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    missing: Literal["fill"] | None = None


def read_chunked(value: Any) -> ChunkedReference | None:
    """The reference that one member of ``variables`` is; None for all other values.

    ``{"dask": name}``, ``{"zarr": path}`` or ``{"parquet": path, "columns": [name, …]}``, each with
    the shape that is expected and the dtype that is wanted, or without; of Zarr's with
    ``"missing": "fill"``, or without.

    Raises: ``Malformed`` for one of these with missing, unknown or invalid members.
    """
    if type(value) is not dict:
        return None
    kind = next((kind for kind in KINDS if type(value.get(kind)) is str), None)
    if kind is None:
        return None
    known = {kind, "shape", "dtype"} | _FURTHER.get(kind, set())
    if unknown := sorted(value.keys() - known):
        named = ", ".join(sorted(known))
        raise Malformed(f"a reference to {kind} has only {named}, got {unknown[0][:80]}")
    name = value[kind]
    if not name or len(name) > _MOST_TEXT:
        raise Malformed(f"a name has 1 to {_MOST_TEXT} characters", kind)
    columns = _columns(value) if kind == "parquet" else None
    return ChunkedReference(kind, name, columns, _shape(value), _dtype(value), _missing(value))


def has_chunked(variables: Any) -> bool:
    """True if there is a reference in nested variables."""
    if type(variables) is dict:
        return any(map(has_chunked, variables.values()))
    return isinstance(variables, ChunkedReference) or (
        type(variables) is list and any(map(has_chunked, variables))
    )


def _columns(value: dict[str, Any]) -> str | tuple[str, ...]:
    columns = value.get("columns")
    if type(columns) is str:
        return columns
    if (
        type(columns) is list
        and 0 < len(columns) <= _MOST_COLUMNS
        and all(type(column) is str for column in columns)
    ):
        return tuple(columns)
    hint = '"columns": ["age", "height"] is a matrix of two columns, "columns": "age" a vector'
    raise Malformed("parquet needs the names of columns", "columns", hint=hint)


def _missing(value: dict[str, Any]) -> Literal["fill"] | None:
    match value.get("missing"):
        case None:
            return None
        case "fill":
            return "fill"
    hint = "without it, an array with a missing chunk is refused"
    raise Malformed('chunks that are missing are "fill", the fill value', "missing", hint=hint)


def _shape(value: dict[str, Any]) -> tuple[int, ...] | None:
    shape = value.get("shape")
    if shape is None:
        return None
    if type(shape) is not list or not all(type(size) is int and size >= 0 for size in shape):
        raise Malformed("a shape is a list of lengths", "shape")
    return tuple(shape)


def _dtype(value: dict[str, Any]) -> str | None:
    dtype = dtype_named(value.get("dtype"))
    return None if dtype is None else dtype.name
