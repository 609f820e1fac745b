"""Stored arrays: tensors under digests of their contents, results under ids of their own."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gradwire_service.local_cache import CachedRepository
from gradwire_service.problems import RequestError
from gradwire_service.store import Key, Kind, Record, StoredRecord, Unavailable
from gradwire_service.store.records import Upload
from gradwire_service.wire.arrays_in import DTYPES, Array, Dtype, little_endian
from gradwire_service.wire.references import unknown_refs

#: Bytes of the random part of a result's id, and its length as text: four characters for three.
_TOKEN_BYTES, _TOKEN_LENGTH = 24, 32


class Tensor(NamedTuple):
    """A stored tensor, with its array if that was requested."""

    ref: str
    dtype: str
    shape: Sequence[int]
    expires_at: float
    array: Array | None = None


class Tensors(CachedRepository):
    """Arrays by digest. They are views of the store's bytes."""

    kind: ClassVar[Kind] = "tensors"

    def _decode(self, owner: str, stored: StoredRecord) -> tuple[Any, int]:
        array = _array(stored)
        return array, array.nbytes

    def put(self, owner: str, array: Array, ref: str | None = None) -> tuple[Tensor, bool]:
        """Store an array, whose digest must be ``ref`` if given; also returns whether it is new.

        Raises: ``RequestError`` (malformed_tensor, over_budget).
        """
        name, shape = array.dtype.name, array.shape
        body = bytes(_bytes(array))
        key = Key(self.kind, owner, digest(name, shape, body))
        if ref is not None and ref != key.id:
            raise RequestError(
                "malformed_tensor",
                f"the digest of the tensor is {key.id}, not the one in the path",
                hint="the digest is of dtype, shape and little-endian bytes in C order",
            )
        held = self._store.find(key, body=False)
        if held is not None:
            return Tensor(key.id, name, shape, held.expires_at), False
        expires_at = self._store.put(key, Record(_head(array), body))
        return Tensor(key.id, name, shape, expires_at), True

    def find(self, owner: str, ref: str, *, array: bool = True) -> Tensor:
        """Find a tensor.

        Raises: ``RequestError`` (unknown_ref).
        """
        held = self._store.find(Key(self.kind, owner, ref), body=array)
        if held is None:
            raise unknown_refs([ref])
        found, head = _array(held) if array else None, json.loads(held.head)
        return Tensor(ref, head["dtype"], head["shape"], held.expires_at, found)

    def remove(self, owner: str, ref: str) -> None:
        """Delete a tensor.

        Raises: ``RequestError`` (unknown_ref).
        """
        if not self.delete(owner, ref):
            raise unknown_refs([ref])


class Results(Tensors):
    """Arrays of answers, which stay with the service. A digest would take as long as to send them.

    Nobody else has their values. So they are not evicted: without room there is no result.
    """

    kind = "results"

    def exchange(
        self, owner: str, released: Sequence[str], arrays: Sequence[Array]
    ) -> list[Tensor | None]:
        """Delete results, then store arrays; None for each that the store has no room for."""
        removed = [Key(self.kind, owner, ref) for ref in released]
        keys = [Key(self.kind, owner, f"result:{token}") for token in _tokens(len(arrays))]
        uploads = [
            Upload(key, _head(array), _bytes(array))
            for key, array in zip(keys, arrays, strict=True)
        ]
        try:
            expiries = self._store.exchange(removed, uploads).expiries
        except Unavailable:
            return [None] * len(arrays)
        self._cache.invalidate(*removed)
        return [
            None if expires_at is None else self._near(key, array, expires_at)
            for key, array, expires_at in zip(keys, arrays, expiries, strict=True)
        ]

    def _near(self, key: Key, array: Array, expires_at: float) -> Tensor:
        """Cache an array that has just been stored, without the memory that it is a part of."""
        near = np.ascontiguousarray(array).view() if _is_whole(array) else array.copy()
        near.flags.writeable = False
        self._cache.put(key, near, near.nbytes, self._fresh_seconds, self._cache.changes)
        return Tensor(key.id, _name_of(array.dtype), array.shape, expires_at)


def digest(dtype: str, shape: Sequence[int], body: bytes) -> str:
    """The ref of a tensor: SHA-256 of a line with its dtype and shape, followed by its bytes."""
    found = sha256(f"{dtype} {','.join(map(str, shape))}\n".encode())
    found.update(body)
    return f"sha256:{found.hexdigest()}"


def _tokens(count: int) -> list[str]:
    """The random parts of ids."""
    text = secrets.token_urlsafe(_TOKEN_BYTES * count)
    return [text[at : at + _TOKEN_LENGTH] for at in range(0, len(text), _TOKEN_LENGTH)]


def _is_whole(array: Array) -> bool:
    """True if little more memory is kept for an array than it takes."""
    base: Any = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.base is None and base.nbytes <= 2 * array.nbytes


def _head(array: Array) -> str:
    """The description of an array in a record, without its bytes."""
    return _head_of(array.dtype, array.shape)


#: NumPy makes a dtype's name anew each time.
_name_of: Callable[[Dtype], str] = lru_cache(maxsize=64)(lambda dtype: dtype.name)


@lru_cache(maxsize=1024)
def _head_of(dtype: Dtype, shape: tuple[int, ...]) -> str:
    return json.dumps({"dtype": dtype.name, "shape": shape})


def _bytes(array: Array) -> memoryview:
    """The little-endian bytes in C order, in place if the array has them."""
    little = np.ascontiguousarray(array, little_endian(array.dtype))
    return little.reshape(-1).view(np.uint8).data


def _array(held: StoredRecord) -> Array:
    """The array in a record, read in place."""
    head = json.loads(held.head)
    dtype = DTYPES[head["dtype"]]
    array = np.frombuffer(held.content, dtype.newbyteorder("<")).reshape(head["shape"])
    array = array.astype(dtype, copy=False)
    array.flags.writeable = False
    return array
