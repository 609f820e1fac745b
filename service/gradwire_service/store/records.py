"""The interface of stores: records by kind, owner and id, and the quotas that all stores apply."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import EllipsisType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from gradwire_service.problems import RequestError
from gradwire_service.settings.errors import StartupError
from gradwire_service.wire.shared import Body, SharedMemory, to_bytes

#: A tape's recipe, a program's source, an owner's name for a program, an array, an array of an
#: answer, a job, what belongs to one, its lease, and a record that was consumed, which the request
#: that consumed it may repeat.
Kind: TypeAlias = Literal[
    "tapes", "programs", "names", "tensors", "results", "jobs", "job_parts", "job_leases", "used"
]
#: The part of its time to live that a record has left while its use need not be written.
_LEAST_LEFT = 0.9
#: Time that a store remembers that a record was consumed.
CONSUMED_SECONDS = 60.0


class Unavailable(RequestError):
    """The store cannot answer now; the client may retry."""

    def __init__(self, detail: str) -> None:
        hint = "retry after the time in the Retry-After header"
        super().__init__("store_unavailable", detail, hint=hint, retry_after_seconds=1)


class OverQuota(RequestError):
    """A quota has no room for a record: ``excess`` is what would have to be deleted first."""

    def __init__(
        self, detail: str, kind: Kind, after: Amount, limit: Amount, until: str = "they expire"
    ) -> None:
        hint = f"delete {kind} that are not needed any more, or wait until {until}"
        super().__init__("over_budget", detail, hint=hint)
        self.kind = kind
        self.excess = Amount(*(max(0, over) for over in after.minus(limit)))

    @classmethod
    def of(cls, whose: str, kind: Kind, after: Amount, limit: Amount) -> OverQuota:
        """The refusal by the limit of one owner, or of all."""
        detail = (
            f"{whose} {kind} would be {after.records:,} with {after.nbytes:,} bytes; the limit is "
            f"{limit.records:,} with {limit.nbytes:,}"
        )
        return cls(detail, kind, after, limit)


class OverShare(OverQuota):
    """An owner would have more of a kind than its share, beside what others have."""

    def __init__(self, kind: Kind, after: Amount, share: Amount) -> None:
        would, limit = f"be {after.records:,}", share.records
        if after.nbytes > share.nbytes:
            would, limit = f"have {after.nbytes:,} bytes", share.nbytes
        super().__init__(
            f"your {kind} would {would}; while others use the store, your share is {limit:,}",
            kind,
            after,
            share,
            until="others' expire; GRADWIRE_TENANTS guarantees each tenant its quota",
        )


class NotOpened(StartupError):
    """The service cannot start with this store; the text says why, and what it needs."""


class Key(NamedTuple):
    """The address of a record. Other owners do not see that it exists."""

    kind: Kind
    owner: str
    id: str

    @property
    def used(self) -> Key:
        """The address of the record once it is consumed."""
        return Key("used", self.owner, f"{self.kind} {self.id}")


#: A body, in this process's own memory or in what another process has shared.
Content: TypeAlias = bytes | bytearray | SharedMemory


class Record(NamedTuple):
    """A body, and a small head that can be listed and read without it."""

    head: str
    body: Content

    @property
    def nbytes(self) -> int:
        return len(self.head.encode()) + len(self.body)


def known_fields(head: str, names: Collection[str]) -> dict[str, Any]:
    """The fields with these names in a head, which is JSON, and under ``others`` all the rest.

    A later version of the service may have written more, and an earlier one less.
    """
    found: dict[str, Any] = json.loads(head)
    known = {name: found.pop(name) for name in names if name in found}
    return {**known, "others": found}


class Change(NamedTuple):
    """The change of one record: it gets a ``head``, or is deleted where that is None.

    It must have the head that was ``seen``, or not exist if that is None; ``...`` is any. ``body``
    replaces its body or, if it ``appends``, is added at its end; None leaves the body as it is.
    """

    key: Key
    head: str | None
    body: Content | None = None
    seen: str | EllipsisType | None = ...
    appends: bool = False

    @property
    def only_checks(self) -> bool:
        """True if the record stays as it was seen."""
        return self.body is None and self.head == self.seen


class Peeked(NamedTuple):
    """A record that is read without using it: ``tail`` is the end of its body, if asked for."""

    head: str
    expires_at: float
    tail: bytes


class Notice(NamedTuple):
    """A message to those who watch the record of ``key``: ``origin`` has changed it.

    One with a ``text`` is an event of the record, which has not changed.
    """

    key: Key
    origin: str = ""
    text: str = ""


class Upload(NamedTuple):
    """A record that is to be stored, with its body wherever that is."""

    key: Key
    head: str
    body: Body | SharedMemory


class Exchanged(NamedTuple):
    """The result of an exchange."""

    #: When each of the added records expires, None if it has no room.
    expiries: list[float | None]
    #: Memory that nobody reads any more, of the lengths of added bodies: for the next exchange.
    spare: Sequence[SharedMemory] = ()


class StoredRecord(NamedTuple):
    """A record in the store, or one that was consumed by the request ``used_by``.

    ``body`` is None if it was not asked for. A record that was consumed without a name is empty.
    """

    head: str
    body: Content | None
    expires_at: float
    used_by: str | None = None

    @property
    def content(self) -> bytes | bytearray:
        """The body, which was asked for, in this process's own memory."""
        assert self.body is not None
        return to_bytes(self.body)

    @classmethod
    def consumed(cls, head: str, body: Content | None, expires_at: float) -> StoredRecord:
        """A consumed record: the head begins with the consumer's name and a space."""
        used_by, _, head = head.partition(" ")
        return cls(head, body, expires_at, used_by)


class ListedRecord(NamedTuple):
    """A record of a listing, without its body; ``nbytes`` are those of both."""

    id: str
    head: str
    expires_at: float
    nbytes: int


class Amount(NamedTuple):
    """A number of records, and their bytes."""

    records: int
    nbytes: int

    def plus(self, other: Amount) -> Amount:
        return Amount(self.records + other.records, self.nbytes + other.nbytes)

    def minus(self, other: Amount) -> Amount:
        return Amount(self.records - other.records, self.nbytes - other.nbytes)

    def within(self, limit: Amount) -> bool:
        return self.records <= limit.records and self.nbytes <= limit.nbytes


NOTHING = Amount(0, 0)


class Usage(NamedTuple):
    """The usage of one owner and of all, of one kind, without the record to be replaced."""

    own: Amount
    total: Amount


class Policy(NamedTuple):
    """Quotas and expiry of one kind.

    A record expires ``ttl_seconds`` after its last use. If a kind ``evicts``, an owner's least
    recently used records make room for its new ones; otherwise a record over quota is refused. No
    record is ever evicted for another owner.

    If a policy ``shares_fairly``, an owner that adds a record also leaves as much free as it has:
    so the next one finds room, however many there are, and n that come and go have some 1/(n + 1)
    of the total each. A quota above half of the total is not divided so: neither are the records
    if that is one of records, nor the bytes if it is one of bytes. Source: Choudhury and Hahne,
    Dynamic Queue Length Thresholds, IEEE/ACM Transactions on Networking 6 (1998).
    """

    per_owner: Amount
    total: Amount
    ttl_seconds: float = math.inf
    evicts: bool = False
    shares_fairly: bool = False

    @property
    def limits(self) -> tuple[int, ...]:
        """The quota, the limit of all, and that of what an owner and all have, added up."""
        return *self.per_owner, *self.total, *self._together

    @property
    def _together(self) -> Amount:
        """The most that an owner and all may have, added up: with shares, no more than all."""
        return Amount(
            *(
                total if self.shares_fairly and 2 * own <= total else own + total
                for own, total in zip(self.per_owner, self.total, strict=True)
            )
        )

    def of(self, *, admitted: bool) -> Policy:
        """The policy for what is written: what is ``admitted`` goes on, whatever others add."""
        return self._replace(shares_fairly=False) if admitted else self

    @property
    def least_seconds(self) -> float:
        """The time to expiry below which a use moves the expiry on, which is a write.

        Where nothing is evicted, so that the order of uses decides nothing, once in a tenth of the
        time to live is enough.
        """
        return self.ttl_seconds if self.evicts else _LEAST_LEFT * self.ttl_seconds

    def moves_on(self, expires_at: float, now: float) -> bool:
        """True if a use moves this expiry on."""
        return expires_at != math.inf and expires_at - now <= self.least_seconds

    def evicted(self, kind: Kind, new: Amount, usage: Usage) -> Amount:
        """The amount of the owner's oldest records that has to be dropped for ``new``.

        Raises: ``OverQuota`` where that would not be enough, or is not allowed.
        """
        dropped = NOTHING
        own, total = usage.own.plus(new), usage.total.plus(new)
        limits: Sequence[tuple[Amount, Amount, Callable[[Kind, Amount, Amount], OverQuota]]] = (
            (own, self.per_owner, partial(OverQuota.of, "your")),
            (total, self.total, partial(OverQuota.of, "all")),
            (own, self._share(own, total), OverShare),
        )
        for after, limit, refusal in limits:
            if after.within(limit):
                continue
            dropped = Amount(*map(max, dropped, after.minus(limit)))
            if not (self.evicts and dropped.within(usage.own)):
                raise refusal(kind, after, limit)
        return dropped

    def _share(self, own: Amount, total: Amount) -> Amount:
        """The most that an owner may have, if it and all would have so much."""
        over = own.plus(total).minus(self._together)
        return own.minus(Amount(*(max(0, -(-each // 2)) for each in over)))


class Store(ABC):
    """Records of all kinds. Thread-safe; times are in seconds since 1970.

    Every call may block, and raises ``Unavailable`` if the store does not answer.
    """

    #: Whether calls wait for a disk or a server. Else an event loop may make them.
    waits: ClassVar[bool] = True

    def __init__(self, policies: Mapping[Kind, Policy]) -> None:
        self.policies = policies

    @abstractmethod
    def put(self, key: Key, record: Record) -> float:
        """Store ``record`` in place of any other under ``key``; returns when it expires.

        Raises: ``OverQuota``.
        """

    @abstractmethod
    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        """The record of ``key``; this use moves its expiry on, as its policy says."""

    @abstractmethod
    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        """The first ``limit`` of an owner's records with ids greater than ``after``, by id."""

    @abstractmethod
    def consume(self, key: Key, by: str = "") -> bool:
        """Use a record up; true for the one caller that did.

        A caller that names itself ``by``, one word, may do so again: for ``CONSUMED_SECONDS`` the
        record is found, marked as used by that caller, unless it was evicted.
        """

    @abstractmethod
    def remove(self, key: Key) -> bool:
        """Delete the record of ``key``; whether there was one."""

    def exchange(self, removed: Sequence[Key], added: Sequence[Upload]) -> Exchanged:
        """Delete records, then store others of the same kind and owner."""
        for key in removed:
            self.remove(key)
        expiries: list[float | None] = []
        for key, head, body in added:
            try:
                expiries.append(self.put(key, Record(head, self._content(body))))
            except OverQuota:
                expiries.append(None)
        return Exchanged(
            expiries, [each.body for each in added if isinstance(each.body, SharedMemory)]
        )

    def _content(self, body: Body | SharedMemory) -> Content:
        """The form in which this store keeps a body."""
        return bytes(to_bytes(body))

    @abstractmethod
    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        """The usage of one owner, or of all together, of one kind."""

    @abstractmethod
    def close(self) -> None:
        """Release files, connections and threads."""


class Subscription:
    """Hears of changes of records: here, of all that this process makes. For the event loop."""

    async def watch(self, key: Key) -> None:
        """Hear of the changes of a record from now on, those by other processes, too."""

    async def leave(self, key: Key) -> None:
        """Hear no more of a record."""

    async def listen(self) -> None:
        """Hear of other processes' changes until this is cancelled."""


class SharedStore(Store):
    """A store whose records several replicas change, each by what it has seen of them."""

    #: Time between looks at what is watched: where there are no notices, or some may be lost.
    look_seconds: ClassVar[float] = math.inf
    #: Whether other processes hear of notices.
    tells_others: ClassVar[bool] = False

    @abstractmethod
    def commit(
        self,
        changes: Sequence[Change],
        notice: Notice | None = None,
        *,
        admitted: bool = False,
    ) -> int | None:
        """Make all changes at once, if every record is as it was seen; None if one is not.

        Changes of one kind are of one owner. Those of what is ``admitted`` are within its quota and
        the limit of all, but may exceed its share: others have stored more since then. Returns how
        many processes receive the notice, if that is known, with this one if it watches the record.
        Raises: ``OverQuota``; then nothing has changed.
        """

    @abstractmethod
    def publish(self, notice: Notice) -> int:
        """Send a notice without any change; returns how many receive it, as ``commit`` does."""

    @abstractmethod
    def peek(self, keys: Sequence[Key], start: int | None = None) -> list[Peeked | None]:
        """Read records as they are at one time, with their bodies from ``start`` on; no use."""

    def may_have_changed(self) -> bool:
        """False if no other process has changed anything since the last call."""
        return True

    @abstractmethod
    def subscribe(self, heard: Callable[[Notice | None], None]) -> Subscription:
        """Call ``heard`` with each notice of what is watched; None: some may have been missed.

        It may be called by any thread.
        """
