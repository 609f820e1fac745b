"""What a process has at hand of what the store holds, so that requests need not wait for it."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar, NamedTuple

from gradwire_service.stock import Stock
from gradwire_service.store import Held, Key, Kind, Store, Unavailable

#: How long what is at hand is used without asking the store, which others may have changed.
FRESH_SECONDS = 1.0
#: The part of a record's time that may pass before the store is told of its use.
_FRESH_PART = 0.05


class Entry(NamedTuple):
    """A value as it is used, what it takes, and until when the store need not be asked."""

    value: Any
    nbytes: int
    fresh_until: float


class Near:
    """Values by the keys of their records. Thread-safe.

    Dropped first is what was asked for from the store longest ago, with owners ``apart`` by whoever
    has most; what is in use is asked for again as soon as it is fresh no longer.
    """

    def __init__(
        self, most_bytes: int, clock: Callable[[], float] = monotonic, *, apart: bool = False
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._entries = Stock[Entry](most_bytes, apart=apart)
        #: How often this process has changed what the store holds.
        self.changes = 0

    def fresh(self, key: tuple[Kind, str, str]) -> Any:
        """The value of ``key`` while it is fresh, else None."""
        entry = self._entries.get(key)
        return entry.value if entry is not None and entry.fresh_until > self._clock() else None

    def known(self, key: Key) -> Entry | None:
        """What is at hand of ``key``, fresh or not."""
        return self._entries.get(key)

    def keep(self, key: Key, value: Any, nbytes: int, fresh_seconds: float, changes: int) -> None:
        """Have ``value`` at hand for as long as there is room, fresh for a while.

        One that would take all the room and more is not kept at all, nor one for which the store
        was asked at fewer ``changes`` than there are now: it may have gone.
        """
        with self._lock:
            if changes != self.changes:
                return
            self._entries.keep(key, Entry(value, nbytes, self._clock() + fresh_seconds), nbytes)

    def drop(self, key: Key) -> None:
        """Have ``key`` at hand no longer."""
        self._entries.drop(key)

    def changed(self, key: Key) -> None:
        """As ``drop``, where this process has changed what the store holds under ``key``."""
        with self._lock:
            self.changes += 1
            self._entries.drop(key)


class Shelf(ABC):
    """The records of one kind: in the store, and as values at hand."""

    kind: ClassVar[Kind]
    #: Whether an id stands for the same body for ever, so that it is read only once.
    fixed: ClassVar[bool] = True

    def __init__(self, store: Store, near: Near) -> None:
        self._store = store
        self._near = near
        ttl_seconds = store.policies[self.kind].ttl_seconds
        self._fresh_seconds = min(FRESH_SECONDS, _FRESH_PART * ttl_seconds)

    @abstractmethod
    def _read(self, owner: str, held: Held) -> tuple[Any, int]:
        """A record as the value that is used, and what it takes."""

    def at_hand(self, owner: str, id: str) -> Any:
        """The value of a record, or None where the store would have to be asked."""
        return self._near.fresh((self.kind, owner, id))  # as good as a Key, and sooner made

    def value(self, owner: str, id: str, most_bytes: float = math.inf) -> Any:
        """The value of a record, at hand from now on; None where there is none.

        One whose record has more than ``most_bytes`` is neither read nor given.

        Each use that asks the store is one that moves the record's expiry on. What is at hand, and
        fixed, is used on where the store cannot be had: it would say nothing else.
        """
        key = Key(self.kind, owner, id)
        changes = self._near.changes
        known = self._near.known(key) if self.fixed else None
        try:
            held = self._store.find(key, body=known is None)
        except Unavailable:
            if known is None:
                raise
            self._near.keep(key, known.value, known.nbytes, self._fresh_seconds, changes)
            return known.value
        if held is None:
            self._near.drop(key)
            return None
        if held.body is not None and len(held.body) > most_bytes:
            return None
        value, nbytes = self._read(owner, held) if known is None else known[:2]
        self._near.keep(key, value, nbytes, self._fresh_seconds, changes)
        return value

    def forget(self, owner: str, id: str) -> bool:
        """Remove a record; whether there was one."""
        key = Key(self.kind, owner, id)
        removed = self._store.remove(key)
        self._near.changed(key)
        return removed
