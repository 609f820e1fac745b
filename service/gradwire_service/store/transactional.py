"""Stores with local transactions: each call, made of a few storage primitives."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    NOTHING,
    Amount,
    Key,
    Kind,
    OverQuota,
    Policy,
    Record,
    Store,
    Usage,
)


class TransactionalStore(Store):
    """A store that runs several primitives as one transaction. Times are those of ``now``."""

    def __init__(
        self, policies: Mapping[Kind, Policy], now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(policies)
        self._now = now

    def put(self, key: Key, record: Record) -> float:
        with self._exclusive(key.kind) as now:
            return self._put(key, record, now)

    def swap(self, key: Key, record: Record, head: str | None) -> bool:
        with self._exclusive(key.kind) as now:
            if self._head(key) != head:
                return False
            self._put(key, record, now)
            return True

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
