"""Records in a file, but results in memory: those of a service that is alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradwire_service.store.interface import SharedStore, Subscription
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.quotas import Amount
from gradwire_service.store.records import (
    Change,
    Exchanged,
    Key,
    Kind,
    ListedRecord,
    Notice,
    Peeked,
    Record,
    StoredRecord,
    Upload,
)
from gradwire_service.store.sqlite import SqliteStore


class LocalStore(SharedStore):
    """Results, of which a training makes some in each step, do not wait for a disk.

    All other records are found again after a restart, also by other services of the machine.
    """

    look_seconds = SqliteStore.look_seconds

    def __init__(self, file: SqliteStore, memory: MemoryStore) -> None:
        super().__init__(file.policies)
        self._file, self._memory = file, memory

    def _of(self, kind: Kind) -> SharedStore:
        return self._memory if kind == "results" else self._file

    def put(self, key: Key, record: Record) -> float:
        return self._of(key.kind).put(key, record)

    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        return self._of(key.kind).find(key, body=body)

    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        return self._of(kind).list_records(kind, owner, after, limit)

    def consume(self, key: Key, by: str = "") -> bool:
        return self._of(key.kind).consume(key, by)

    def remove(self, key: Key) -> bool:
        return self._of(key.kind).remove(key)

    def exchange(self, removed: Sequence[Key], added: Sequence[Upload]) -> Exchanged:
        kinds = [*[key.kind for key in removed], *[each.key.kind for each in added]]
        return self._of(kinds[0] if kinds else "results").exchange(removed, added)

    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        return self._of(kind).usage(kind, owner)

    def commit(
        self,
        changes: Sequence[Change],
        notice: Notice | None = None,
        *,
        admitted: bool = False,
    ) -> int | None:
        return self._of(changes[0].key.kind).commit(changes, notice, admitted=admitted)

    def publish(self, notice: Notice) -> int:
        return self._file.publish(notice)

    def peek(self, keys: Sequence[Key], start: int | None = None) -> list[Peeked | None]:
        return self._file.peek(keys, start)

    def may_have_changed(self) -> bool:
        return self._file.may_have_changed()

    def subscribe(self, heard: Callable[[Notice | None], None]) -> Subscription:
        return self._file.subscribe(heard)

    def close(self) -> None:
        self._memory.close()
        self._file.close()
