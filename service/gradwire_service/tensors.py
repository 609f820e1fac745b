"""Stored tensors: arrays under digests of their contents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from gradwire_service.local_cache import CachedRepository
from gradwire_service.problems import RequestError
from gradwire_service.store import Key, Record, StoredRecord
from gradwire_service.wire.numbers import DTYPES, Array
from gradwire_service.wire.references import unknown_refs


class Tensor(NamedTuple):
    """A stored tensor, with its array if that was requested."""

    ref: str
    dtype: str
    shape: Sequence[int]
    expires_at: float
    array: Array | None = None


class Tensors(CachedRepository):
    """Arrays by digest. They are views of the store's bytes."""

    kind = "tensors"

    def _decode(self, owner: str, stored: StoredRecord) -> tuple[Any, int]:
        array = _array(stored)
        return array, array.nbytes

    def put(self, owner: str, array: Array, ref: str | None = None) -> tuple[Tensor, bool]:
        """Store an array, whose digest must be ``ref`` if given; also returns whether it is new.

        Raises: ``RequestError`` (malformed_tensor, over_budget).
        """
        name, shape = array.dtype.name, array.shape
        body = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
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
        head = json.dumps({"dtype": name, "shape": shape})
        return Tensor(key.id, name, shape, self._store.put(key, Record(head, body))), True

    def find(self, owner: str, ref: str, *, array: bool = True) -> Tensor:
        """Find a tensor.

        Raises: ``RequestError`` (unknown_ref).
        """
        held = self._store.find(Key(self.kind, owner, ref), body=array)
        if held is None:
            raise unknown_refs([ref])
        found = _array(held) if array else None
        return Tensor(ref, expires_at=held.expires_at, array=found, **json.loads(held.head))

    def remove(self, owner: str, ref: str) -> None:
        """Delete a tensor.

        Raises: ``RequestError`` (unknown_ref).
        """
        if not self.delete(owner, ref):
            raise unknown_refs([ref])


def digest(dtype: str, shape: Sequence[int], body: bytes) -> str:
    """The ref of a tensor: SHA-256 of a line with its dtype and shape, followed by its bytes."""
    found = sha256(f"{dtype} {','.join(map(str, shape))}\n".encode())
    found.update(body)
    return f"sha256:{found.hexdigest()}"


def _array(held: StoredRecord) -> Array:
    """The array in a record, read in place."""
    assert held.body is not None
    head = json.loads(held.head)
    dtype = DTYPES[head["dtype"]]
    array = np.frombuffer(held.body, dtype.newbyteorder("<")).reshape(head["shape"])
    array = array.astype(dtype, copy=False)
    array.flags.writeable = False
    return array
