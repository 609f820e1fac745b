"""Stores with local transactions: each call, made of a few storage primitives."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from gradwire_service.store.interface import SharedStore, Subscription
from gradwire_service.store.quotas import NOTHING, Amount, OverQuota, Policy, Usage
from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    Change,
    Key,
    Kind,
    Notice,
    Peeked,
    Record,
)
from gradwire_service.wire.shared import to_bytes


class TransactionalStore(SharedStore):
    """A store that runs several primitives as one transaction. Times are those of ``now``."""

    def __init__(
        self, policies: Mapping[Kind, Policy], now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(policies)
        self._now = now
        self._heard: Callable[[Notice | None], None] = lambda _: None

    def put(self, key: Key, record: Record) -> float:
        with self._exclusive(key.kind) as now:
            return self._put(key, record, now)

    def commit(
        self,
        changes: Sequence[Change],
        notice: Notice | None = None,
        *,
        admitted: bool = False,
    ) -> int | None:
        with self._exclusive(changes[0].key.kind) as now:
            if any(each.seen is not ... and self._head(each.key) != each.seen for each in changes):
                return None
            made = [each for each in changes if not each.only_checks]
            written = [(each.key, *self._changed(each, now)) for each in made]
            added: dict[tuple[Kind, str], Amount] = {}
            for key, record, _ in written:
                more = NOTHING if record is None else Amount(1, record.nbytes)
                more = added.get(key[:2], NOTHING).plus(more).minus(self._amount(*key))
                added[key[:2]] = more
            for (kind, owner), amount in added.items():
                if not amount.within(NOTHING):
                    usage = Usage(self._amount(kind, owner), self._amount(kind))
                    self.policies[kind].of(admitted=admitted).evicted(kind, amount, usage)
            for key, record, expires_at in written:
                self._replace(key, record, expires_at)
        if notice is not None:
            self._heard(notice)
        return 0

    def _changed(self, change: Change, now: float) -> tuple[Record | None, float]:
        """The record that a change leaves, and when that expires."""
        key, head, body, _, appends = change
        if head is None:
            return None, now
        held = self._held(key)
        expires_at = now if held is None else held[1]
        if self.policies[key.kind].moves_on(expires_at, now):
            expires_at = self._expiry(key.kind, now)
        if held is not None and (body is None or appends):
            body = to_bytes(held[0].body) + (b"" if body is None else to_bytes(body))
        return Record(head, b"" if body is None else body), expires_at

    def publish(self, notice: Notice) -> int:
        self._heard(notice)
        return 0

    def peek(self, keys: Sequence[Key], start: int | None = None) -> list[Peeked | None]:
        with self._reading(keys[0].kind) as now:
            return [self._peeked(key, start, now) for key in keys]

    def _peeked(self, key: Key, start: int | None, now: float) -> Peeked | None:
        held = self._held(key)
        if held is None or held[1] <= now:
            return None
        (head, body), expires_at = held
        tail = b"" if start is None else bytes(to_bytes(body)[start:])
        return Peeked(head, expires_at, tail)

    def subscribe(self, heard: Callable[[Notice | None], None]) -> Subscription:
        self._heard = heard
        return Subscription()

    def consume(self, key: Key, by: str = "") -> bool:
        with self._exclusive(key.kind) as now:
            head = self._head(key)
            if head is None:
                used = self._head(key.used)
                return bool(by) and used is not None and used.startswith(f"{by} ")
            expires_at = now + CONSUMED_SECONDS
            nbytes = self._amount(*key).nbytes + len(f"{by} ".encode())
            if by and self._has_room(key.used, nbytes):
                self._move(key, key.used, f"{by} {head}", expires_at)
                return True
            self._drop(key)
            if self._has_room(key.used, 0):
                self._insert(key.used, Record("", b""), expires_at)
            return True

    def remove(self, key: Key) -> bool:
        with self._exclusive(key.kind):
            return self._remove(key)

    def _put(self, key: Key, record: Record, now: float) -> float:
        self._make_room(key, record.nbytes)
        expires_at = self._expiry(key.kind, now)
        self._insert(key, record, expires_at)
        return expires_at

    def _remove(self, key: Key) -> bool:
        found = [each for each in (key, key.used) if self._head(each) is not None]
        for each in found:
            self._drop(each)
        return bool(found)

    def _make_room(self, key: Key, nbytes: int) -> None:
        """Drop what a record replaces, and what the policy evicts for it.

        Raises: ``OverQuota``; then nothing has been dropped.
        """
        kind, owner, _ = key
        replaced = self._amount(*key)
        usage = Usage(self._amount(kind, owner), self._amount(kind))
        if replaced.records:
            usage = Usage(usage.own.minus(replaced), usage.total.minus(replaced))
        evicted = self.policies[kind].evicted(kind, Amount(1, nbytes), usage)
        if replaced.records:
            self._drop(key)
        while not evicted.within(NOTHING):
            evicted = evicted.minus(self._drop_oldest(kind, owner))

    def _has_room(self, key: Key, nbytes: int) -> bool:
        """Make room where the quotas allow it; whether they do."""
        try:
            self._make_room(key, nbytes)
        except OverQuota:
            return False
        return True

    def _expiry(self, kind: Kind, now: float) -> float:
        return now + self.policies[kind].ttl_seconds

    def _replace(self, key: Key, record: Record | None, expires_at: float) -> None:
        """Put a record in place of any other under a key, or delete it."""
        self._drop(key)
        if record is not None:
            self._insert(key, record, expires_at)

    @abstractmethod
    def _reading(self, kind: Kind) -> AbstractContextManager[float]:
        """A transaction that changes nothing; yields the time."""

    @abstractmethod
    def _held(self, key: Key) -> tuple[Record, float] | None:
        """The record of ``key``, and when it expires or has."""

    @abstractmethod
    def _exclusive(self, kind: Kind) -> AbstractContextManager[float]:
        """A transaction that changes ``kind``, without expired records; yields the time."""

    @abstractmethod
    def _head(self, key: Key) -> str | None:
        """The head of the record of ``key``."""

    @abstractmethod
    def _insert(self, key: Key, record: Record, expires_at: float) -> None:
        """Add ``record`` under a free key."""

    @abstractmethod
    def _move(self, key: Key, to: Key, head: str, expires_at: float) -> None:
        """Rename a record to a free key, with another head."""

    @abstractmethod
    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        """The usage of a kind, by one owner, or under one key."""

    @abstractmethod
    def _drop(self, key: Key) -> None:
        """Delete the record of ``key``, if there is one."""

    @abstractmethod
    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        """Delete the owner's least recently used record; returns its size."""
