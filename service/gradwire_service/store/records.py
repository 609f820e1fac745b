"""The seam: records by kind, owner and id, wherever they are kept, and how many of them."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Literal, NamedTuple, TypeAlias

from gradwire_service.problems import Refusal

#: What is kept: a tape's recipe, a program's source, what an owner calls a program, an array.
Kind: TypeAlias = Literal["tapes", "programs", "names", "tensors"]
#: How long it is remembered that a record was used up.
CONSUMED_SECONDS = 60.0


class Key(NamedTuple):
    """Under what a record is held: to all but its owner there is none of its id."""

    kind: Kind
    owner: str
    id: str


class Record(NamedTuple):
    """A small head, which is listed and read by itself, and a body."""

    head: str
    body: bytes

    @property
    def nbytes(self) -> int:
        return len(self.head.encode()) + len(self.body)


class Held(NamedTuple):
    """A record that is held. Once it is ``consumed``, only that is known of it.

    ``body`` is None where it was not asked for.
    """

    head: str
    body: bytes | None
    expires_at: float
    consumed: bool = False


class Listed(NamedTuple):
    """A record among others of its kind and owner."""

    id: str
    head: str
    expires_at: float


class Amount(NamedTuple):
    """A number of records, and their bytes."""

    records: int
    nbytes: int

    def plus(self, other: Amount) -> Amount:
        return Amount(self.records + other.records, self.nbytes + other.nbytes)

    def minus(self, other: Amount) -> Amount:
        return Amount(self.records - other.records, self.nbytes - other.nbytes)

    def within(self, most: Amount) -> bool:
        return self.records <= most.records and self.nbytes <= most.nbytes

    def share(self, most: Amount) -> float:
        """The part of ``most`` that this takes: of the records or the bytes, whichever is more."""
        return max(self.records / max(most.records, 1), self.nbytes / max(most.nbytes, 1))


NOTHING = Amount(0, 0)


class Policy(NamedTuple):
    """How much of one kind is held, and how long.

    ``owned`` bounds what one owner has, ``all`` what all have. What is not used for ``ttl_seconds``
    expires. Where there is no room, a kind that ``yields`` drops what was used longest ago; of any
    other kind no more is taken.
    """

    owned: Amount
    all: Amount
    ttl_seconds: float = math.inf
    yields: bool = False


class Store(ABC):
    """Records of all kinds. Thread-safe; times are of ``clock``, in seconds since 1970."""

    def __init__(
        self, policies: Mapping[Kind, Policy], clock: Callable[[], float] = time.time
    ) -> None:
        self.policies = policies
        self._clock = clock

    @abstractmethod
    def put(self, key: Key, record: Record) -> float:
        """Keep ``record``, in place of what ``key`` held; gives when it expires.

        Raises: ``Refusal`` (over_budget).
        """

    @abstractmethod
    def find(self, key: Key, *, body: bool = True) -> Held | None:
        """What is held under ``key``, which from now on is held for its whole time again."""

    @abstractmethod
    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        """The first ``most`` of an owner's records whose ids follow ``after``, by their ids."""

    @abstractmethod
    def consume(self, key: Key) -> bool:
        """Drop what is held but remember the key; true for the one caller who did."""

    @abstractmethod
    def remove(self, key: Key) -> bool:
        """Forget ``key``; whether there was something to forget."""

    @abstractmethod
    def amounts(self, kind: Kind) -> Amount:
        """How much there is of a kind, of all owners together. May wait, as all calls do."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the store has open."""

    @abstractmethod
    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        """How much there is of a kind, of one owner's, or under one key."""

    @abstractmethod
    def _amounts_of_owners(self, kind: Kind) -> dict[str, Amount]:
        """How much of a kind each owner has; those who have nothing are left out."""

    @abstractmethod
    def _drop(self, key: Key) -> None:
        """Drop what ``key`` holds, if anything, also that it is used up."""

    @abstractmethod
    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        """Drop what the owner used longest ago; gives how much that was."""

    def _expiry(self, kind: Kind, now: float) -> float:
        return now + self.policies[kind].ttl_seconds

    def _make_room(self, key: Key, record: Record) -> None:
        """Refuse ``record``, or drop what ``key`` holds and whatever else has to make room.

        An owner's own records make room within its quota. Where all is full, those of whoever has
        the largest share do, with the record that is to come: who has less than others loses
        nothing to them. What is refused has dropped nothing.
        """
        kind, owner, _ = key
        policy, wanted, replaced = self.policies[kind], Amount(1, record.nbytes), self._amount(*key)
        mine = self._amount(kind, owner).minus(replaced)
        everything = self._amount(kind).minus(replaced)
        for whose, held, most in (
            (f"the {kind} of your key", mine, policy.owned),
            (f"all {kind}", everything, policy.all),
        ):
            after = held.plus(wanted)
            if not after.within(most) and not (policy.yields and wanted.within(most)):
                raise _over_budget(whose, kind, after, most)
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


def _over_budget(whose: str, kind: Kind, after: Amount, most: Amount) -> Refusal:
    return Refusal(
        "over_budget",
        f"{whose} would be {after.records} with {after.nbytes} bytes: {most.records} and "
        f"{most.nbytes} are kept",
        hint=f"delete {kind} that are not needed any more, or wait until they expire",
    )
