"""Per-process cache of store records, so that the event loop never waits for the store."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar, NamedTuple

from gradwire_service.lru import ByteBoundedLRU
from gradwire_service.store import Key, Kind, Store, StoredRecord, Unavailable

#: Time that a cached value is used without asking the store, which other processes may change.
FRESH_SECONDS = 1.0
#: The part of a record's time to live within which its use is reported to the store.
_FRESH_PART = 0.05


class CachedValue(NamedTuple):
    """A cached value, its size, and until when it is fresh."""

    value: Any
    nbytes: int
    fresh_until: float


class LocalCache:
    """Values by the keys of their records. Thread-safe.

    Evicts the value that was loaded from the store longest ago: a value in use is loaded again as
    soon as it is stale. With ``per_owner``, it is one of the owner with the most bytes.
    """

    def __init__(
        self, max_bytes: int, clock: Callable[[], float] = monotonic, *, per_owner: bool = False
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._entries = ByteBoundedLRU[CachedValue](max_bytes, per_owner=per_owner)
        #: The number of changes of records in the store by this process.
        self.changes = 0

    def get_fresh(self, key: tuple[Kind, str, str]) -> Any:
        """The value of ``key`` while it is fresh, else None."""
        entry = self._entries.peek(key)
        return entry.value if entry is not None and entry.fresh_until > self._clock() else None

    def get(self, key: Key) -> CachedValue | None:
        """The entry of ``key``, fresh or stale."""
        return self._entries.peek(key)

    def put(self, key: Key, value: Any, nbytes: int, fresh_seconds: float, changes: int) -> None:
        """Cache a value that was loaded when the count of changes was ``changes``.

        If it has changed since, the value may be outdated and is not cached; nor is one that is
        larger than the cache.
        """
        with self._lock:
            if changes != self.changes:
                return
            self._entries.put(
                key, CachedValue(value, nbytes, self._clock() + fresh_seconds), nbytes
            )

    def discard(self, key: Key) -> None:
        """Remove ``key`` from the cache."""
        self._entries.discard(key)

    def invalidate(self, *keys: Key) -> None:
        """Remove ``keys`` after this process has changed their records in the store."""
        with self._lock:
            self.changes += 1
            for key in keys:
                self._entries.discard(key)


class CachedRepository(ABC):
    """The records of one kind in the store, read through the cache."""

    kind: ClassVar[Kind]
    #: Whether an id always has the same body, so that it is read only once.
    immutable: ClassVar[bool] = True

    def __init__(self, store: Store, cache: LocalCache) -> None:
        self._store = store
        self._cache = cache
        ttl_seconds = store.policies[self.kind].ttl_seconds
        self._fresh_seconds = min(FRESH_SECONDS, _FRESH_PART * ttl_seconds)

    @abstractmethod
    def _decode(self, owner: str, stored: StoredRecord) -> tuple[Any, int]:
        """The value of a record, and its size in memory."""

    def get_fresh(self, owner: str, id: str) -> Any:
        """The value of a record, or None if the store would have to be asked."""
        return self._cache.get_fresh((self.kind, owner, id))  # a Key takes longer to make

    def load(self, owner: str, id: str, max_bytes: float = math.inf) -> Any:
        """The value of a record, from the store; None if there is none.

        A record of more than ``max_bytes`` is neither decoded nor returned. Asking the store moves
        the record's expiry on. While the store is unavailable, a stale value that is immutable is
        used.
        """
        key = Key(self.kind, owner, id)
        changes = self._cache.changes
        known = self._cache.get(key) if self.immutable else None
        try:
            stored = self._store.find(key, body=known is None)
        except Unavailable:
            if known is None:
                raise
            self._cache.put(key, known.value, known.nbytes, self._fresh_seconds, changes)
            return known.value
        if stored is None:
            self._cache.discard(key)
            return None
        if stored.body is not None and len(stored.body) > max_bytes:
            return None
        value, nbytes = self._decode(owner, stored) if known is None else known[:2]
        self._cache.put(key, value, nbytes, self._fresh_seconds, changes)
        return value

    def delete(self, owner: str, id: str) -> bool:
        """Delete a record; whether there was one."""
        key = Key(self.kind, owner, id)
        removed = self._store.remove(key)
        self._cache.invalidate(key)
        return removed
