"""Records in the memory of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from gradwire_service.store.records import (
    NOTHING,
    Amount,
    Held,
    Key,
    Kind,
    Listed,
    Policy,
    Record,
)
from gradwire_service.store.room import OrderedStore


class MemoryStore(OrderedStore):
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

    def find(self, key: Key, *, body: bool = True) -> Held | None:
        with self._alone(key.kind) as now:
            ends = self._ends[key.kind]
            if key not in ends:
                return self._find_used(key, body=body)
            expires_at = ends[key] = self._expiry(key.kind, now)
            ends.move_to_end(key)
            self._owned[key.kind][key.owner].move_to_end(key.id)
            record = self._record(key)
            return Held(record.head, record.body if body else None, expires_at)

    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        with self._alone(kind):
            found = [
                Listed(id, record.head, self._ends[kind][Key(kind, owner, id)])
                for id, record in self._owned[kind].get(owner, {}).items()
                if id > after
            ]
        return sorted(found)[:most]

    def amounts(self, kind: Kind, owner: str | None = None) -> Amount:
        with self._alone(kind):
            return self._amount(kind, owner)

    def close(self) -> None:
        pass

    @contextmanager
    def _alone(self, kind: Kind) -> Iterator[float]:
        with self._lock:
            now = self._clock()
            for ends in self._ends.values():
                while ends and next(iter(ends.values())) <= now:
                    self._drop(next(iter(ends)))
            yield now

    def _find_used(self, key: Key, *, body: bool) -> Held | None:
        used = key.used
        if used not in self._ends[used.kind]:
            return None
        record = self._record(used)
        by, _, head = record.head.partition(" ")
        return Held(head, record.body if body else None, self._ends[used.kind][used], by)

    def _record(self, key: Key) -> Record:
        return self._owned[key.kind][key.owner][key.id]

    def _head(self, key: Key) -> str | None:
        return self._record(key).head if key in self._ends[key.kind] else None

    def _insert(self, key: Key, record: Record, expires_at: float) -> None:
        kind, owner, id = key
        self._ends[kind][key] = expires_at
        self._owned[kind].setdefault(owner, OrderedDict())[id] = record
        amount = Amount(1, record.nbytes)
        self._all[kind] = self._all[kind].plus(amount)
        self._of_owners[kind][owner] = self._amount(kind, owner).plus(amount)

    def _move(self, key: Key, to: Key, head: str, expires_at: float) -> None:
        record = self._record(key)
        self._drop(key)
        self._insert(to, Record(head, record.body), expires_at)

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
