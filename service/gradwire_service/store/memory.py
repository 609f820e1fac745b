"""Records in the memory of one process."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from weakref import WeakSet

from gradwire_service.store.quotas import NOTHING, Amount, OverQuota, Policy
from gradwire_service.store.records import (
    Content,
    Exchanged,
    Key,
    Kind,
    ListedRecord,
    Record,
    StoredRecord,
    Upload,
)
from gradwire_service.store.transactional import TransactionalStore
from gradwire_service.wire.shared import Body, SharedMemory

#: Most bodies that are kept where another process has written them.
MOST_SHARED = 128


class MemoryStore(TransactionalStore):
    """Records that no other process sees and that end with the process."""

    waits = False

    def __init__(
        self, policies: Mapping[Kind, Policy], now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(policies, now)
        self._lock = threading.Lock()
        #: Bodies that are kept where another process has written them: each is an open file.
        self._shared = WeakSet[SharedMemory]()
        #: Those of them that yet another process may be reading.
        self._read = WeakSet[SharedMemory]()
        #: Records with their expiry, least recently used first: within a kind, first to expire.
        self._records: dict[Kind, OrderedDict[Key, tuple[Record, float]]]
        self._records = {kind: OrderedDict() for kind in policies}
        #: The keys of each owner with records, in the same order.
        self._owned: dict[tuple[Kind, str], OrderedDict[Key, None]] = {}
        #: The usage of a kind by each owner with records, and under None by all owners.
        self._usage: dict[tuple[Kind, str | None], Amount] = {}

    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        with self._exclusive(key.kind) as now:
            records = self._records[key.kind]
            if key in records:
                (head, content), expires_at = records[key]
                if self.policies[key.kind].moves_on(expires_at, now):
                    expires_at = self._expiry(key.kind, now)
                    records[key] = records[key][0], expires_at
                    records.move_to_end(key)
                    self._owned[key.kind, key.owner].move_to_end(key)
                if body and isinstance(content, SharedMemory):
                    self._read.add(content)
                return StoredRecord(head, content if body else None, expires_at)
            if key.used not in self._records["used"]:
                return None
            (head, content), expires_at = self._records["used"][key.used]
            return StoredRecord.consumed(head, content if body else None, expires_at)

    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        with self._exclusive(kind):
            found = [
                ListedRecord(key.id, record.head, expires_at, record.nbytes)
                for key in self._owned.get((kind, owner), ())
                if key.id > after
                for record, expires_at in [self._records[kind][key]]
            ]
        return sorted(found)[:limit]

    def _content(self, body: Body | SharedMemory) -> Content:
        if isinstance(body, SharedMemory) and len(self._shared) < MOST_SHARED:
            self._shared.add(body)
            return body
        return body if isinstance(body, bytearray) else super()._content(body)

    def exchange(self, removed: Sequence[Key], added: Sequence[Upload]) -> Exchanged:
        expiries: list[float | None] = []
        if not removed and not added:
            return Exchanged(expiries)
        spare: list[SharedMemory] = []
        wanted = Counter([len(each.body) for each in added if isinstance(each.body, SharedMemory)])
        with self._exclusive(removed[0].kind if removed else added[0].key.kind) as now:
            for key in removed:
                held = self._records[key.kind].get(key) if wanted else None
                self._remove(key)
                body = None if held is None else held[0].body
                if isinstance(body, SharedMemory) and wanted[len(body)] and body not in self._read:
                    wanted[len(body)] -= 1
                    spare.append(body)
            for key, head, new in added:
                try:
                    expiries.append(self._put(key, Record(head, self._content(new)), now))
                except OverQuota:
                    expiries.append(None)
        return Exchanged(expiries, spare)

    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        with self._exclusive(kind):
            return self._amount(kind, owner)

    def close(self) -> None:
        pass

    @contextmanager
    def _exclusive(self, kind: Kind) -> Iterator[float]:
        with self._lock:
            now = self._now()
            for records in self._records.values():
                while records and next(iter(records.values()))[1] <= now:
                    self._drop(next(iter(records)))
            yield now

    _reading = _exclusive

    def _held(self, key: Key) -> tuple[Record, float] | None:
        return self._records[key.kind].get(key)

    def _replace(self, key: Key, record: Record | None, expires_at: float) -> None:
        held = self._held(key)
        if held is None or record is None or held[1] != expires_at:
            super()._replace(key, record, expires_at)
            return
        self._records[key.kind][key] = record, expires_at  # in its place, by expiry
        more = Amount(0, record.nbytes - held[0].nbytes)
        for each in key.owner, None:
            self._usage[key.kind, each] = self._usage[key.kind, each].plus(more)

    def _head(self, key: Key) -> str | None:
        found = self._records[key.kind].get(key)
        return None if found is None else found[0].head

    def _insert(self, key: Key, record: Record, expires_at: float) -> None:
        kind, owner, _ = key
        self._records[kind][key] = record, expires_at
        self._owned.setdefault((kind, owner), OrderedDict())[key] = None
        amount = Amount(1, record.nbytes)
        for each in owner, None:
            self._usage[kind, each] = self._amount(kind, each).plus(amount)

    def _move(self, key: Key, to: Key, head: str, expires_at: float) -> None:
        record, _ = self._records[key.kind][key]
        self._drop(key)
        self._insert(to, Record(head, record.body), expires_at)

    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        if owner is None or id is None:
            return self._usage.get((kind, owner), NOTHING)
        found = self._records[kind].get(Key(kind, owner, id))
        return NOTHING if found is None else Amount(1, found[0].nbytes)

    def _drop(self, key: Key) -> None:
        kind, owner, _ = key
        found = self._records[kind].pop(key, None)
        if found is None:
            return
        amount = Amount(1, found[0].nbytes)
        for each in owner, None:
            self._usage[kind, each] = self._amount(kind, each).minus(amount)
        owned = self._owned[kind, owner]
        del owned[key]
        if not owned:
            del self._owned[kind, owner], self._usage[kind, owner]

    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        oldest = next(iter(self._owned[kind, owner]))
        amount = self._amount(*oldest)
        self._drop(oldest)
        return amount
