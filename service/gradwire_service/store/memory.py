"""Records in the memory of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    NOTHING,
    Amount,
    Held,
    Key,
    Kind,
    Listed,
    Policy,
    Record,
    Store,
)


class MemoryStore(Store):
    """Records that no other process sees and no restart outlives."""

    def __init__(
        self, policies: Mapping[Kind, Policy], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(policies, clock)
        self._lock = threading.Lock()
        #: When those of each kind expire, in that order, which is also that of their last uses.
        self._ends: dict[Kind, OrderedDict[Key, float]] = {kind: OrderedDict() for kind in policies}
        #: Those of each owner of a kind by their ids, in the same order; none is empty.
        self._owned: dict[Kind, dict[str, OrderedDict[str, Record]]]
        self._owned = {kind: {} for kind in policies}
        self._all: dict[Kind, Amount] = dict.fromkeys(policies, NOTHING)
        self._of_owners: dict[Kind, dict[str, Amount]] = {kind: {} for kind in policies}
        #: Keys that are used up, with the end of their memory, in its order.
        self._consumed: OrderedDict[Key, float] = OrderedDict()

    def put(self, key: Key, record: Record) -> float:
        kind, owner, id = key
        with self._lock:
            now = self._sweep()
            self._make_room(key, record)
            expires_at = self._ends[kind][key] = self._expiry(kind, now)
            self._owned[kind].setdefault(owner, OrderedDict())[id] = record
            amount, mine = Amount(1, record.nbytes), self._amount(kind, owner)
            self._all[kind] = self._all[kind].plus(amount)
            self._of_owners[kind][owner] = mine.plus(amount)
        return expires_at

    def find(self, key: Key, *, body: bool = True) -> Held | None:
        kind, owner, id = key
        with self._lock:
            now = self._sweep()
            if key in self._consumed:
                return Held("", None, self._consumed[key], consumed=True)
            ends = self._ends[kind]
            if key not in ends:
                return None
            expires_at = ends[key] = self._expiry(kind, now)
            ends.move_to_end(key)
            records = self._owned[kind][owner]
            records.move_to_end(id)
            record = records[id]
            return Held(record.head, record.body if body else None, expires_at)

    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        with self._lock:
            self._sweep()
            found = [
                Listed(id, record.head, self._ends[kind][Key(kind, owner, id)])
                for id, record in self._owned[kind].get(owner, {}).items()
                if id > after
            ]
        return sorted(found)[:most]

    def consume(self, key: Key) -> bool:
        with self._lock:
            now = self._sweep()
            found = key in self._ends[key.kind]
            if found:
                self._drop(key)
                self._consumed[key] = now + CONSUMED_SECONDS
            return found

    def remove(self, key: Key) -> bool:
        with self._lock:
            self._sweep()
            found = key in self._ends[key.kind] or key in self._consumed
            self._drop(key)
            return found

    def amounts(self, kind: Kind) -> Amount:
        with self._lock:
            self._sweep()
            return self._all[kind]

    def close(self) -> None:
        pass

    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        if owner is None:
            return self._all[kind]
        if id is None:
            return self._of_owners[kind].get(owner, NOTHING)
        if (kind, owner, id) not in self._ends[kind]:
            return NOTHING
        return Amount(1, self._owned[kind][owner][id].nbytes)

    def _amounts_of_owners(self, kind: Kind) -> dict[str, Amount]:
        return dict(self._of_owners[kind])

    def _drop(self, key: Key) -> None:
        kind, owner, id = key
        self._consumed.pop(key, None)
        if key not in self._ends[kind]:
            return
        amount, mine = self._amount(*key), self._amount(kind, owner)
        del self._ends[kind][key]
        self._all[kind] = self._all[kind].minus(amount)
        self._of_owners[kind][owner] = mine.minus(amount)
        del self._owned[kind][owner][id]
        if not self._owned[kind][owner]:
            del self._owned[kind][owner], self._of_owners[kind][owner]

    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        oldest = Key(kind, owner, next(iter(self._owned[kind][owner])))
        amount = self._amount(*oldest)
        self._drop(oldest)
        return amount

    def _sweep(self) -> float:
        """Drop what has expired; gives the time."""
        now = self._clock()
        for ends in self._ends.values():
            while ends and next(iter(ends.values())) <= now:
                self._drop(next(iter(ends)))
        while self._consumed and next(iter(self._consumed.values())) <= now:
            self._consumed.popitem(last=False)
        return now
