"""The seam: records by kind, owner and id, wherever they are kept, and how many of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from gradwire_service.problems import Refusal
from gradwire_service.settings.errors import StartupError

#: What is kept: a tape's recipe, a program's source, what an owner calls a program, an array, and
#: what was used up, which may be asked for again by whoever did that.
Kind: TypeAlias = Literal["tapes", "programs", "names", "tensors", "used"]
#: How long it is remembered that a record was used up.
CONSUMED_SECONDS = 60.0


class Unavailable(Refusal):
    """The store cannot do now what it may do later."""

    def __init__(self, detail: str) -> None:
        hint = "retry after the time in the Retry-After header"
        super().__init__("store_unavailable", detail, hint=hint, retry_after_seconds=1)


class NotOpened(StartupError):
    """A store that a service cannot start with; its text says why, and what it needs."""


class Key(NamedTuple):
    """Under what a record is held: to all but its owner there is none of its id."""

    kind: Kind
    owner: str
    id: str

    @property
    def used(self) -> Key:
        """Where a record is remembered once it is used up."""
        return Key("used", self.owner, f"{self.kind} {self.id}")


class Record(NamedTuple):
    """A small head, which is listed and read by itself, and a body."""

    head: str
    body: bytes

    @property
    def nbytes(self) -> int:
        return len(self.head.encode()) + len(self.body)


class Held(NamedTuple):
    """A record that is held, or was until it was ``used_by`` somebody.

    ``body`` is None where it was not asked for. Of what nobody used by a name, only that it was
    used is known.
    """

    head: str
    body: bytes | None
    expires_at: float
    used_by: str | None = None


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
    """Records of all kinds. Thread-safe; times are in seconds since 1970.

    Every call may wait, and raises ``Unavailable`` where the store cannot be had.
    """

    def __init__(self, policies: Mapping[Kind, Policy]) -> None:
        self.policies = policies

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
    def consume(self, key: Key, by: str = "") -> bool:
        """Use up what is held; true for the one caller who did.

        One who is called ``by``, a word, may do so again: for ``CONSUMED_SECONDS`` the record is
        found, as used by that caller, unless it has to make room. To all others it is used up.
        """

    @abstractmethod
    def remove(self, key: Key) -> bool:
        """Forget ``key``; whether there was something to forget."""

    @abstractmethod
    def amounts(self, kind: Kind, owner: str | None = None) -> Amount:
        """How much there is of a kind, of one owner's or of all together."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the store has open."""


def over_budget(whose: str, kind: Kind, after: Amount, most: Amount) -> Refusal:
    """How a record is refused for which there is no room."""
    return Refusal(
        "over_budget",
        f"{whose} would be {after.records} with {after.nbytes} bytes: {most.records} and "
        f"{most.nbytes} are kept",
        hint=f"delete {kind} that are not needed any more, or wait until they expire",
    )


def whose_own(kind: Kind) -> str:
    """What one owner has of a kind, as refusals call it."""
    return f"your {kind}"


def whose_all(kind: Kind) -> str:
    """What all owners have of a kind, as refusals call it."""
    return f"all {kind}"
