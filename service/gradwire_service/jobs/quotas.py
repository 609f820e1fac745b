"""The quotas of jobs: how many may run or wait, and which that have ended make room for others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import TypeVar

from gradwire_service.jobs.records import StoredJob
from gradwire_service.jobs.stored import Jobs, evictable
from gradwire_service.problems import RequestError
from gradwire_service.store import STORED_JOBS, Key, Store
from gradwire_service.store.quotas import NOTHING, Amount, OverQuota

T = TypeVar("T")

_WAIT_HINT = "wait until some end or cancel them: those that have make room"


class Quotas:
    """The quota of an owner is one of jobs that have not ended.

    Those that have are stored in as many places, and are deleted as needed by ``remove``, in the
    order of ``evictable``; none of another owner is.
    """

    def __init__(
        self, store: Store, now: Callable[[], float], remove: Callable[[StoredJob], object]
    ) -> None:
        self._store, self._now, self._remove = store, now, remove

    def check(self, key: Key) -> None:
        """Check that a job, stored or not, is within the quota of those that have not ended.

        Raises: ``RequestError`` (over_budget) if as many of its owner's were created before.
        """
        stored = self._store.policies["jobs"].per_owner.records
        limit = stored // STORED_JOBS
        listed = Jobs(self._store).heads(key.owner, "", stored)
        before = sorted((job.created_at, id) for id, job in listed if not job.ended)
        before = [*takewhile(lambda each: each[1] != key.id, before)]
        if len(before) >= limit:
            detail = f"{len(before)} of your jobs run or wait; the limit is {limit}"
            raise RequestError("over_budget", detail, hint=_WAIT_HINT)

    def with_room(self, key: Key, write: Callable[[], T]) -> T:
        """Write something of a job, for which others of its owner make room.

        Raises: ``OverQuota`` where all that may would not be enough; then none has.
        """
        while True:
            try:
                return write()
            except OverQuota as error:
                if not self._evict(key, error):
                    error.hint = _WAIT_HINT
                    raise

    def _evict(self, key: Key, over: OverQuota) -> bool:
        """Delete jobs that have ended for one of their owner; false if that is not enough."""
        most = self._store.policies["job_parts"].per_owner.records
        listed = Jobs(self._store).listed(key.owner, "", most)
        freed: dict[str, Amount] = {}
        for each in self._store.list_records(over.kind, key.owner, "", most):
            id, _, _ = each.id.partition(" ")  # of the job, also of a part
            freed[id] = freed.get(id, NOTHING).plus(Amount(1, each.nbytes))
        left, evicted = over.excess, []
        for stored in evictable((each for each in listed if each.key != key), self._now()):
            if left.within(NOTHING):
                break
            amount = freed.get(stored.key.id, NOTHING)
            if any(lacking > 0 < found for lacking, found in zip(left, amount, strict=True)):
                evicted.append(stored)
                left = left.minus(amount)
        if not left.within(NOTHING):
            return False
        for gone in evicted:
            self._remove(gone)
        return True
