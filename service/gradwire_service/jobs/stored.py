"""Reads jobs from a store, and says which of them make room for others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gradwire_service.jobs.records import Job, JobPart, StoredJob, Unknown, part_of
from gradwire_service.store import Key, Store, StoredRecord

#: The time for which a result that was sent counts as not taken: it may not have arrived.
TAKEN_SECONDS = 60.0


class Jobs:
    """The jobs in a store. Every method may block, and raises ``Unavailable``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, key: Key) -> StoredJob:
        """Find a job.

        Raises: ``Unknown``.
        """
        held = self._store.find(key, body=False)
        if held is None:
            raise Unknown
        return StoredJob.of(key, held)

    def listed(self, owner: str, after: str, limit: int) -> Sequence[StoredJob]:
        """The first ``limit`` jobs of an owner with ids greater than ``after``."""
        found = self._store.list_records("jobs", owner, after, limit)
        return [StoredJob.of(Key("jobs", owner, each.id), each) for each in found]

    def heads(self, owner: str, after: str, limit: int) -> Iterator[tuple[str, Job]]:
        """The ids of the same, and what is known of them."""
        for each in self._store.list_records("jobs", owner, after, limit):
            yield each.id, Job.from_json(each.head)

    def find_part(self, key: Key, part: JobPart) -> StoredRecord | None:
        """A part of a job; its expiry moves on."""
        return self._store.find(part_of(key, part))


def evictable(jobs: Iterable[StoredJob], now: float) -> list[StoredJob]:
    """The jobs that may make room for others, in the order in which they do.

    These are jobs that have ended. Those come first whose result was taken at least
    ``TAKEN_SECONDS`` ago, and of equals the one that ended first.
    """

    def order(stored: StoredJob) -> tuple[bool, float, str]:
        job = stored.job
        is_taken = job.taken_at is not None and job.taken_at + TAKEN_SECONDS <= now
        return not is_taken, job.finished_at or job.created_at, stored.key.id

    return sorted((each for each in jobs if each.job.ended and not each.is_later), key=order)
