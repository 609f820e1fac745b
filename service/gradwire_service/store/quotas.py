"""Quotas and expiry of records, and the errors of a record that exceeds a quota."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from gradwire_service.problems import RequestError
from gradwire_service.store.records import Kind

#: The part of its time to live that a record has left while its use need not be written.
_LEAST_LEFT = 0.9


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
