"""Records in the memory of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence

from gradwire_service.problems import Refusal
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
        #: Of each kind in the order in which they expire, so also of their last uses.
        self._records: dict[Kind, OrderedDict[Key, tuple[Record, float]]]
        self._records = {kind: OrderedDict() for kind in policies}
        #: Keys that are used up, with the end of their memory, in its order.
        self._consumed: OrderedDict[Key, float] = OrderedDict()
        self._owned: dict[Kind, dict[str, Amount]] = defaultdict(dict)

    def put(self, key: Key, record: Record) -> float:
        with self._lock:
            now = self._sweep()
            replaced = self._records[key.kind].get(key)
            self._drop(key)
            try:
                self._make_room(key, record)
            except Refusal:
                if replaced is not None:
                    self._put_back(key, *replaced)
                raise
            expires_at = self._expiry(key.kind, now)
            self._keep(key, record, expires_at)
        return expires_at

    def find(self, key: Key, *, body: bool = True) -> Held | None:
        with self._lock:
            now = self._sweep()
            if key in self._consumed:
                return Held("", None, self._consumed[key], consumed=True)
            records = self._records[key.kind]
            if key not in records:
                return None
            record, _ = records.pop(key)
            expires_at = self._expiry(key.kind, now)
            records[key] = record, expires_at
            return Held(record.head, record.body if body else None, expires_at)

    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        with self._lock:
            self._sweep()
            found = [
                Listed(key.id, record.head, expires_at)
                for key, (record, expires_at) in self._records[kind].items()
                if key.owner == owner and key.id > after
            ]
        return sorted(found)[:most]

    def consume(self, key: Key) -> bool:
        with self._lock:
            now = self._sweep()
            found = self._drop(key) is not None
            if found:
                self._consumed[key] = now + CONSUMED_SECONDS
            return found

    def remove(self, key: Key) -> bool:
        with self._lock:
            self._sweep()
            return self._drop(key) is not None or self._consumed.pop(key, None) is not None

    def close(self) -> None:
        pass

    def _amounts(self, kind: Kind) -> dict[str, Amount]:
        return dict(self._owned[kind])

    def _keep(self, key: Key, record: Record, expires_at: float) -> None:
        self._records[key.kind][key] = record, expires_at
        owned = self._owned[key.kind]
        owned[key.owner] = owned.get(key.owner, NOTHING).plus(Amount(1, record.nbytes))

    def _put_back(self, key: Key, record: Record, expires_at: float) -> None:
        self._keep(key, record, expires_at)
        records = self._records[key.kind]
        for later in [other for other, (_, end) in records.items() if end > expires_at]:
            records.move_to_end(later)

    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        oldest = self._drop(next(key for key in self._records[kind] if key.owner == owner))
        assert oldest is not None
        return oldest

    def _drop(self, key: Key) -> Amount | None:
        found = self._records[key.kind].pop(key, None)
        if found is None:
            return None
        amount, owned = Amount(1, found[0].nbytes), self._owned[key.kind]
        owned[key.owner] = owned[key.owner].minus(amount)
        if not owned[key.owner].records:
            del owned[key.owner]
        return amount

    def _sweep(self) -> float:
        """Drop what has expired; gives the time."""
        now = self._clock()
        for records in self._records.values():
            while records and next(iter(records.values()))[1] <= now:
                self._drop(next(iter(records)))
        while self._consumed and next(iter(self._consumed.values())) <= now:
            self._consumed.popitem(last=False)
        return now
