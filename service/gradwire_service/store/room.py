"""Stores that this process keeps in order: what a call does, step by step, and who makes room."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from heapq import heapify, heappop, heapreplace

from gradwire_service.problems import Refusal
from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    Amount,
    Key,
    Kind,
    Policy,
    Record,
    Store,
    over_budget,
    whose_all,
    whose_own,
)


class OrderedStore(Store):
    """A store whose calls are made of a few steps on what it holds, with nothing in between.

    Times are of ``clock``.
    """

    def __init__(
        self, policies: Mapping[Kind, Policy], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(policies)
        self._clock = clock

    def put(self, key: Key, record: Record) -> float:
        with self._alone(key.kind) as now:
            self._make_room(key, Amount(1, record.nbytes))
            expires_at = self._expiry(key.kind, now)
            self._insert(key, record, expires_at)
        return expires_at

    def consume(self, key: Key, by: str = "") -> bool:
        with self._alone(key.kind) as now:
            head = self._head(key)
            if head is None:
                used = self._head(key.used)
                return bool(by) and used is not None and used.startswith(f"{by} ")
            expires_at = now + CONSUMED_SECONDS
            if not by or not self._kept_as_used(key, f"{by} {head}", expires_at):
                self._drop(key)
                self._remember(key.used, expires_at)
            return True

    def remove(self, key: Key) -> bool:
        with self._alone(key.kind):
            found = self._head(key) is not None or self._head(key.used) is not None
            self._drop(key)
            self._drop(key.used)
            return found

    @abstractmethod
    def _alone(self, kind: Kind) -> AbstractContextManager[float]:
        """While nobody else changes anything, and nothing is held that has expired; the time."""

    @abstractmethod
    def _head(self, key: Key) -> str | None:
        """The head of what is held under ``key``."""

    @abstractmethod
    def _insert(self, key: Key, record: Record, expires_at: float) -> None:
        """Hold ``record``, where there is nothing."""

    @abstractmethod
    def _move(self, key: Key, to: Key, head: str, expires_at: float) -> None:
        """Hold what is held under ``key`` as ``to`` instead, where there is nothing."""

    @abstractmethod
    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        """How much there is of a kind, of one owner's, or under one key."""

    @abstractmethod
    def _amounts_of_owners(self, kind: Kind) -> dict[str, Amount]:
        """How much of a kind each owner has; those who have nothing are left out."""

    @abstractmethod
    def _drop(self, key: Key) -> None:
        """Drop what ``key`` holds, if anything."""

    @abstractmethod
    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        """Drop what the owner used longest ago; gives how much that was."""

    def _kept_as_used(self, key: Key, head: str, expires_at: float) -> bool:
        """Whether there is room to hold on to what is used up."""
        nbytes = self._amount(*key).nbytes - len((self._head(key) or "").encode())
        try:
            self._make_room(key.used, Amount(1, nbytes + len(head.encode())))
        except Refusal:
            return False
        self._move(key, key.used, head, expires_at)
        return True

    def _remember(self, used: Key, expires_at: float) -> None:
        """Hold no more than that something is used up, if there is room for even that."""
        with suppress(Refusal):
            self._make_room(used, Amount(1, 0))
            self._insert(used, Record("", b""), expires_at)

    def _expiry(self, kind: Kind, now: float) -> float:
        return now + self.policies[kind].ttl_seconds

    def _make_room(self, key: Key, wanted: Amount) -> None:
        """Refuse a record so large, or drop what ``key`` holds and what else has to make room.

        An owner's own records make room within its quota. Where all is full, those of whoever has
        the largest share do, with the record that is to come: who has less than others loses
        nothing to them. What is refused has dropped nothing.
        """
        kind, owner, _ = key
        policy, replaced = self.policies[kind], self._amount(*key)
        mine = self._amount(kind, owner).minus(replaced)
        everything = self._amount(kind).minus(replaced)
        for whose, held, most in (
            (whose_own(kind), mine, policy.owned),
            (whose_all(kind), everything, policy.all),
        ):
            after = held.plus(wanted)
            if not after.within(most) and not (policy.yields and wanted.within(most)):
                raise over_budget(whose, kind, after, most)
        self._drop(key)
        while not mine.plus(wanted).within(policy.owned):
            dropped = self._drop_oldest(kind, owner)
            mine, everything = mine.minus(dropped), everything.minus(dropped)
        if not everything.plus(wanted).within(policy.all):
            self._drop_of_largest(kind, owner, wanted, everything)

    def _drop_of_largest(self, kind: Kind, owner: str, wanted: Amount, everything: Amount) -> None:
        """Drop what was used longest ago by whoever has the largest share, until there is room."""
        most, held = self.policies[kind].all, self._amounts_of_owners(kind)

        def ranked(one: str) -> tuple[float, str]:
            amount = held[one].plus(wanted) if one == owner else held[one]
            return -amount.share(most), one

        shares = [ranked(one) for one in held]
        heapify(shares)
        while not everything.plus(wanted).within(most):
            _, largest = shares[0]
            dropped = self._drop_oldest(kind, largest)
            everything = everything.minus(dropped)
            held[largest] = held[largest].minus(dropped)
            if held[largest].records:
                heapreplace(shares, ranked(largest))
            else:
                heappop(shares)
