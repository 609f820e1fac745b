"""The seam: records by kind, owner and id, wherever they are kept, and how many of them."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
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
    def close(self) -> None:
        """Give back what the store has open."""

    @abstractmethod
    def _amounts(self, kind: Kind) -> dict[str, Amount]:
        """How much of a kind each owner has; those who have nothing are left out."""

    @abstractmethod
    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        """Drop what the owner used longest ago; gives how much that was."""

    def _expiry(self, kind: Kind, now: float) -> float:
        return now + self.policies[kind].ttl_seconds

    def _make_room(self, key: Key, record: Record) -> None:
        """Drop what has to make room for one more record, or refuse it.

        An owner's own records make room within its quota. Where all is full, those of whoever has
        the largest share do, with the record that is to come: who has less than others loses
        nothing to them.
        """
        kind, owner, _ = key
        policy, wanted = self.policies[kind], Amount(1, record.nbytes)
        held = self._amounts(kind)
        while True:
            mine, everything = held.get(owner, NOTHING), _sum(held)
            if not mine.plus(wanted).within(policy.owned):
                whose, now, most, crowd = f"the {kind} of your key", mine, policy.owned, {owner}
            elif not everything.plus(wanted).within(policy.all):
                whose, now, most, crowd = f"all {kind}", everything, policy.all, set(held)
            else:
                return
            if not policy.yields or not wanted.within(most):
                raise _over_budget(whose, kind, now.plus(wanted), most)
            shares = {
                one: held[one].plus(wanted if one == owner else NOTHING).share(policy.all)
                for one in crowd
            }
            largest = max(sorted(shares), key=shares.__getitem__)
            held[largest] = held[largest].minus(self._drop_oldest(kind, largest))
            if not held[largest].records:
                del held[largest]


def _sum(held: Mapping[str, Amount]) -> Amount:
    total = NOTHING
    for amount in held.values():
        total = total.plus(amount)
    return total


def _over_budget(whose: str, kind: Kind, after: Amount, most: Amount) -> Refusal:
    return Refusal(
        "over_budget",
        f"{whose} would be {after.records} with {after.nbytes} bytes: {most.records} and "
        f"{most.nbytes} are kept",
        hint=f"delete {kind} that are not needed any more, or wait until they expire",
    )
