"""Tapes in the memory of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from gradwire_service.store.tapes import CONSUMED_SECONDS, Held, Quota, Recipe, TapeStore


class MemoryStore(TapeStore):
    """Tapes that no other process sees and no restart outlives."""

    def __init__(self, quota: Quota, clock: Callable[[], float] = time.time) -> None:
        super().__init__(quota, clock)
        self._lock = threading.Lock()
        #: Tapes and used up tokens, both in the order in which they expire.
        self._tapes: OrderedDict[str, tuple[Recipe, float]] = OrderedDict()
        self._consumed: OrderedDict[str, float] = OrderedDict()
        self._bytes = 0

    def add(self, recipe: Recipe) -> tuple[str, float]:
        token, expires_at = self._token(), self._clock() + self._quota.ttl_seconds
        with self._lock:
            self._sweep()
            self._check_quota(len(self._tapes), self._bytes, recipe)
            self._tapes[token] = recipe, expires_at
            self._bytes += len(recipe.body)
        return token, expires_at

    def find(self, token: str) -> Held | None:
        with self._lock:
            self._sweep()
            if token in self._consumed:
                return Held(None, self._consumed[token])
            if token not in self._tapes:
                return None
            recipe, _ = self._tapes.pop(token)
            expires_at = self._clock() + self._quota.ttl_seconds
            self._tapes[token] = recipe, expires_at
            return Held(recipe, expires_at)

    def consume(self, token: str) -> bool:
        with self._lock:
            self._sweep()
            found = self._drop(token)
            if found:
                self._consumed[token] = self._clock() + CONSUMED_SECONDS
            return found

    def remove(self, token: str) -> bool:
        with self._lock:
            self._sweep()
            return self._drop(token) or self._consumed.pop(token, None) is not None

    def close(self) -> None:
        pass

    def _drop(self, token: str) -> bool:
        found = self._tapes.pop(token, None)
        if found is not None:
            self._bytes -= len(found[0].body)
        return found is not None

    def _sweep(self) -> None:
        now = self._clock()
        while self._tapes and next(iter(self._tapes.values()))[1] <= now:
            self._drop(next(iter(self._tapes)))
        while self._consumed and next(iter(self._consumed.values())) <= now:
            self._consumed.popitem(last=False)
