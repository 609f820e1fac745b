"""Rows of Zarr arrays, none of whose chunks is lost. Runs on workers; imports lazily."""

from __future__ import annotations

import base64
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradwire_service.cluster.casting import cast, target_dtype
from gradwire_service.cluster.reading import damage_reported, invalid, number_dtype, retried
from gradwire_service.problems import clip
from gradwire_service.wire.arrays_in import Array, Dtype
from gradwire_service.wire.chunked import ChunkedReference

#: Files of an array that are no chunks.
_METADATA = frozenset({"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"})
#: Listing and naming so many takes a second or two: 300 bytes of metadata can claim any number.
_MOST_CHUNKS = 1_000_000
#: Attributes by which others store numbers as something else, or leave some out.
_PACKED = ("scale_factor", "add_offset")
_HIDDEN = ("_FillValue", "missing_value")


class ZarrRows(NamedTuple):
    """The rows ``start`` to ``stop`` of an array, cast to a dtype."""

    address: str
    start: int
    stop: int
    dtype: Dtype
    #: Chunks that were not written are of the array's fill value.
    filled: bool = False
    #: Values that stand for missing ones.
    hidden: tuple[float, ...] = ()

    def read(self) -> Array:
        """The rows, in the byte order of this machine."""
        with damage_reported(self.address):
            rows = np.asarray(retried(lambda: self._opened()[self.start : self.stop]))
            if self.hidden and np.isin(rows, self.hidden).any():
                detail = f"values of {self.hidden[0]} stand for missing ones"
                raise invalid(detail, None, "store numbers or NaN, without the attribute")
            return cast(np.asarray(rows, rows.dtype.newbyteorder("=")), self.dtype)

    def _opened(self) -> Any:
        array = _zarr(self.address)
        if self.filled:
            return array
        import zarr

        complete = _complete()(array.store_path.store)
        return zarr.open_array(complete, path=array.store_path.path, mode="r")


class ZarrFile(NamedTuple):
    """An array whose first axis has these ``chunks``, in rows."""

    address: str
    dtype: Dtype
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    stored: Dtype
    filled: bool = False
    hidden: tuple[float, ...] = ()

    def divided(self, bounds: Sequence[tuple[int, int]]) -> list[ZarrRows]:
        """The recipe of each shard."""
        address, dtype, filled, hidden = self.address, self.dtype, self.filled, self.hidden
        return [ZarrRows(address, *rows, dtype, filled, hidden) for rows in bounds]


def find_zarr(address: str, reference: ChunkedReference, pointer: str) -> ZarrFile:
    """Describe an array.

    Raises: ``RequestError`` (invalid_request, dtype_mismatch), also for one with a lost chunk.
    """
    filled = reference.missing == "fill"
    with damage_reported(address, pointer):
        array = retried(lambda: _zarr(address))
        if not array.shape:
            raise ValueError("it has no axes")
        rows, step = array.shape[0], max(array.chunks[0], 1)
        if not rows:
            raise ValueError("it has no rows")
        count = math.prod(_counts(array))
        if count > _MOST_CHUNKS:
            detail = f"it has {count} chunks, and at most {_MOST_CHUNKS} are read"
            raise invalid(detail, pointer, "store it in larger chunks, or shards of chunks")
        stored = number_dtype(array.dtype, pointer)
        dtype = target_dtype(stored, reference.dtype, pointer)
        hidden = _hidden(dict(array.attrs), stored)
        if not filled:
            _check_chunks(array, address, pointer)
        chunks = (*(step for _ in range(rows // step)), *([rows % step] if rows % step else []))
        return ZarrFile(address, dtype, tuple(array.shape), chunks, stored, filled, hidden)


def _check_chunks(array: Any, address: str, pointer: str) -> None:
    """Check by one listing that each chunk, or shard of chunks, is there.

    A store that cannot be listed is checked as it is read.

    Raises: ``RequestError`` (invalid_request).
    """
    known = retried(lambda: _listed(array, address))
    if known is None:
        return
    lost = [key for key in _chunk_keys(array) if key not in known]
    if lost:
        others = f" and {len(lost) - 1} others" if len(lost) > 1 else ""
        raise _lost_chunk(f"{address.rpartition('/')[2]}: {lost[0]}{others}", pointer)


def _listed(array: Any, address: str) -> set[str] | None:
    """The names of all files of an array; ``None`` where its store cannot list them."""
    if Path(address).is_dir():  # ten times as fast as by Zarr
        start = len(address.rstrip("/")) + 1
        return {f"{at}/{file}"[start:] for at, _, files in os.walk(address) for file in files}
    from zarr.core.sync import collect_aiterator

    store, path = array.store_path.store, array.store_path.path
    if not store.supports_listing:
        return None
    prefix = f"{path}/" if path else ""
    return {key.removeprefix(prefix) for key in collect_aiterator(store.list_prefix(prefix))}


def _chunk_keys(array: Any) -> Iterator[str]:
    """The names of all stored pieces of an array: of shards where it has these, else of chunks."""
    return map(array.metadata.encode_chunk_key, product(*map(range, _counts(array))))


def _counts(array: Any) -> list[int]:
    """The number of shards, or else of chunks, along each axis."""
    sizes = array.shards or array.chunks
    return [-(-length // max(size, 1)) for length, size in zip(array.shape, sizes, strict=True)]


def _lost_chunk(named: str, pointer: str | None) -> Exception:
    return invalid(
        f"{clip(named, 300)}: the chunk is missing, and would be read as the fill value",
        pointer,
        'write the array again, with write_empty_chunks=True; or say "missing": "fill" of one '
        "that leaves out chunks of its fill value",
    )


def _hidden(attributes: Mapping[str, Any], stored: Dtype) -> tuple[float, ...]:
    """The values by which CF's attributes mark missing numbers; NaN stands for itself.

    Raises: ``ValueError`` for numbers that are stored as other ones.
    """
    for name in _PACKED:
        if name in attributes:
            raise ValueError(f"its attribute {name} says that the values are packed: decode them")
    given = [(name, attributes[name]) for name in _HIDDEN if name in attributes]
    found = [
        _number(name, value, stored)
        for name, values in given
        for value in (values if isinstance(values, list) else [values])
    ]
    return tuple(value for value in found if not math.isnan(value))


def _number(name: str, value: Any, stored: Dtype) -> float:
    """A number that an attribute has; of xarray's in Zarr's version 3, bytes as text."""
    if type(value) in (int, float, bool):
        return float(value) if stored.kind == "f" else int(value)
    if isinstance(value, str) and stored.kind == "f":
        with suppress(ValueError, struct.error):
            return float(*struct.unpack("<d", base64.b64decode(value, validate=True)))
    raise ValueError(f"its attribute {name} is no number: {clip(str(value), 80)}")


@lru_cache(maxsize=1)
def _complete() -> Any:
    """The class of stores in which a chunk that is not there is an error, not the fill value."""
    from zarr.storage import WrapperStore

    class Complete(WrapperStore):  # type: ignore[misc]  # Zarr is not always there to be checked
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            found = await self._store.get(key, prototype, byte_range)
            if found is None and key.rpartition("/")[2] not in _METADATA:
                raise _lost_chunk(key, None)
            return found

    return Complete


def _zarr(address: str) -> Any:
    import zarr

    return zarr.open_array(address, mode="r")
