"""Tapes in the memory of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from gradwire_service.store.tapes import (
    CONSUMED_SECONDS,
    Amount,
    Held,
    Key,
    Quota,
    Recipe,
    TapeStore,
)

_NOTHING = Amount(0, 0)


class MemoryStore(TapeStore):
    """Tapes that no other process sees and no restart outlives."""

    def __init__(self, quota: Quota, clock: Callable[[], float] = time.time) -> None:
        super().__init__(quota, clock)
        self._lock = threading.Lock()
        #: Tapes and used up keys, both in the order in which they expire.
        self._tapes: OrderedDict[Key, tuple[Recipe, float]] = OrderedDict()
        self._consumed: OrderedDict[Key, float] = OrderedDict()
        self._held = _NOTHING
        self._owned: dict[str, Amount] = {}

    def add(self, owner: str, recipe: Recipe) -> tuple[Key, float]:
        key, expires_at = self._key(owner), self._clock() + self._quota.ttl_seconds
        with self._lock:
            self._sweep()
            self._check_quota(self._owned.get(owner, _NOTHING), self._held, recipe)
            self._tapes[key] = recipe, expires_at
            self._count(owner, recipe, 1)
        return key, expires_at

    def find(self, key: Key) -> Held | None:
        with self._lock:
            self._sweep()
            if key in self._consumed:
                return Held(None, self._consumed[key])
            if key not in self._tapes:
                return None
            recipe, _ = self._tapes.pop(key)
            expires_at = self._clock() + self._quota.ttl_seconds
            self._tapes[key] = recipe, expires_at
            return Held(recipe, expires_at)

    def consume(self, key: Key) -> bool:
        with self._lock:
            self._sweep()
            found = self._drop(key)
            if found:
                self._consumed[key] = self._clock() + CONSUMED_SECONDS
            return found

    def remove(self, key: Key) -> bool:
        with self._lock:
            self._sweep()
            return self._drop(key) or self._consumed.pop(key, None) is not None

    def close(self) -> None:
        pass

    def _drop(self, key: Key) -> bool:
        found = self._tapes.pop(key, None)
        if found is not None:
            self._count(key.owner, found[0], -1)
        return found is not None

    def _count(self, owner: str, recipe: Recipe, count: int) -> None:
        self._held = self._held.plus(recipe, count)
        self._owned[owner] = self._owned.get(owner, _NOTHING).plus(recipe, count)
        if not self._owned[owner].tapes:
            del self._owned[owner]

    def _sweep(self) -> None:
        now = self._clock()
        while self._tapes and next(iter(self._tapes.values()))[1] <= now:
            self._drop(next(iter(self._tapes)))
        while self._consumed and next(iter(self._consumed.values())) <= now:
            self._consumed.popitem(last=False)
