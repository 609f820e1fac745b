"""Jobs: long optimisations in the store, which any replica finds and goes on with.

A job is one small record that is only swapped, so of all that change it one succeeds. Its request,
checkpoint, events and answer are records beside it. A lease says which replica runs it, and until
when; a job whose lease has passed is taken over from its last checkpoint.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from time import time
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from gradwire_service.problems import RequestError
from gradwire_service.store import STORED_JOBS, Key, Record, Store, StoredRecord, Unavailable
from gradwire_service.store.records import NOTHING, Amount, Content, OverQuota

T = TypeVar("T")

State: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
#: States in which a job does not change any more.
ENDED: frozenset[State] = frozenset({"succeeded", "failed", "cancelled"})
#: What is stored beside a job.
Part: TypeAlias = Literal["request", "checkpoint", "events", "answer"]
PARTS: tuple[Part, ...] = ("request", "checkpoint", "events", "answer")
#: The time for which a result that was sent counts as not taken: it may not have arrived.
TAKEN_SECONDS = 60.0
_TOKEN_BYTES = 24
_WAIT_HINT = "wait until some end or cancel them: those that have make room"
#: The owner of all leases: the service itself.
_SERVICE = ""
#: Leases that a replica looks through at once.
_MOST_LEASES = 10_000


class Job(NamedTuple):
    """What is known of a job; times are in seconds since 1970, ``digest`` is of its request."""

    kind: str
    created_at: float
    digest: str
    state: State = "queued"
    started_at: float | None = None
    finished_at: float | None = None
    progress: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None
    #: How often another replica, or a restarted one, has gone on with it.
    resumed: int = 0
    #: When its end was first sent to somebody.
    taken_at: float | None = None

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def failed_early(self) -> bool:
        """True if it has failed before its start was evaluated."""
        return self.state == "failed" and self.progress is None

    @property
    def head(self) -> str:
        """The job as text."""
        return json.dumps(self._asdict())

    @classmethod
    def of(cls, head: str) -> Self:
        """The job that a text says."""
        return cls(**json.loads(head))


class StoredJob(NamedTuple):
    """A job in the store, with its key, and the time when it expires."""

    key: Key
    job: Job
    expires_at: float


class Lease(NamedTuple):
    """Which replica runs the job of an owner, and until when others leave it alone.

    ``iteration`` is the furthest that the job had reached before, and ``attempts`` are those that
    have not come further.
    """

    owner: str
    id: str
    replica: str
    until: float
    iteration: int = 0
    attempts: int = 1

    @property
    def head(self) -> str:
        """The lease as text."""
        return json.dumps(self)

    @classmethod
    def of(cls, head: str) -> Self:
        """The lease that a text says."""
        return cls(*json.loads(head))


class Unknown(RequestError):
    """There is no such job."""

    def __init__(self) -> None:
        super().__init__(
            "unknown_job",
            "there is no job with this id: it has expired, was deleted, or made room for another",
            hint="GET /v1/jobs lists the jobs that there are",
        )


def new_id(owner: str, idempotency_key: bytes | None) -> str:
    """An unguessable id; equal for requests of an owner with one idempotency key."""
    if idempotency_key is None:
        return secrets.token_urlsafe(_TOKEN_BYTES)
    return sha256(b"%s %s" % (owner.encode(), idempotency_key)).hexdigest()[: 2 * _TOKEN_BYTES]


def evictable(jobs: Iterable[StoredJob], now: float) -> list[StoredJob]:
    """The jobs that may make room for others, in the order in which they do.

    These are jobs that have ended. Those come first whose result was taken at least
    ``TAKEN_SECONDS`` ago, and of equals the one that ended first.
    """

    def order(stored: StoredJob) -> tuple[bool, float, str]:
        job = stored.job
        is_taken = job.taken_at is not None and job.taken_at + TAKEN_SECONDS <= now
        return not is_taken, job.finished_at or job.created_at, stored.key.id

    return sorted((stored for stored in jobs if stored.job.ended), key=order)


class Jobs:
    """The jobs in a store. Every method may block, and raises ``Unavailable``.

    The quota of an owner is one of jobs that have not ended. Those that have are stored in as many
    places, and are deleted as needed, in the order of ``evictable``; none of another owner is.
    """

    def __init__(self, store: Store, now: Callable[[], float] = time) -> None:
        """``now`` tells the time in seconds since 1970."""
        self._store = store
        self._now = now

    def create(self, key: Key, job: Job) -> bool:
        """Store a new job; false if there is one of this id.

        Raises: ``RequestError`` (over_budget).
        """
        self._check_quota(key)
        if not self._with_room(key, lambda: self._store.swap(key, Record(job.head, b""), None)):
            return False
        try:
            self._check_quota(key)  # others may have been created at the same time
        except RequestError:
            self._store.remove(key)
            raise
        return True

    def _check_quota(self, key: Key) -> None:
        """Check that a job, stored or not, is within the quota of those that have not ended.

        Raises: ``RequestError`` (over_budget) if as many of its owner's were created before.
        """
        stored = self._store.policies["jobs"].per_owner.records
        limit = stored // STORED_JOBS
        found = [each for each in self.listed(key.owner, "", stored) if not each.job.ended]
        found.sort(key=lambda each: (each.job.created_at, each.key.id))
        before = [each.key for each in found]
        if key in before:
            before = before[: before.index(key)]
        if len(before) >= limit:
            detail = f"{len(before)} of your jobs run or wait; the limit is {limit}"
            raise RequestError("over_budget", detail, hint=_WAIT_HINT)

    def find(self, key: Key) -> StoredJob:
        """Find a job.

        Raises: ``Unknown``.
        """
        held = self._store.find(key, body=False)
        if held is None:
            raise Unknown
        return StoredJob(key, Job.of(held.head), held.expires_at)

    def change(self, key: Key, seen: Job, job: Job) -> bool:
        """Replace a job that is still as it was ``seen``; whether it was.

        Raises: ``OverQuota``.
        """
        record = Record(job.head, b"")
        return self._with_room(key, lambda: self._store.swap(key, record, seen.head))

    def take(self, key: Key) -> None:
        """Note that the end of a job is sent to its owner, if it has ended."""
        with suppress(Unknown, OverQuota, Unavailable):  # it is sent in any case
            job = self.find(key).job
            if job.ended and job.taken_at is None:
                self.change(key, job, job._replace(taken_at=self._now()))

    def end(self, key: Key, **fields: Any) -> Job:
        """Set the last ``fields`` of a job, unless it has ended; returns what it is then.

        Raises: ``Unknown``.
        """
        while True:
            seen = self.find(key).job
            if seen.ended:
                return seen
            ended = seen._replace(**fields)
            if self.change(key, seen, ended):
                return ended

    def listed(self, owner: str, after: str, limit: int) -> list[StoredJob]:
        """The first ``limit`` jobs of an owner with ids greater than ``after``."""
        found = self._store.list_records("jobs", owner, after, limit)
        return [
            StoredJob(Key("jobs", owner, each.id), Job.of(each.head), each.expires_at)
            for each in found
        ]

    def remove(self, key: Key) -> None:
        """Delete a job with all its parts."""
        self.remove_parts(key, PARTS)
        self._store.remove(key)

    def put_part(self, key: Key, part: Part, body: Content, head: str = "") -> None:
        """Store a part in place of what it was.

        Raises: ``OverQuota``.
        """
        self._with_room(key, lambda: self._store.put(_part(key, part), Record(head, body)))

    def find_part(self, key: Key, part: Part) -> StoredRecord | None:
        """A part of a job; its expiry moves on."""
        return self._store.find(_part(key, part))

    def events(self, key: Key) -> list[tuple[int, str]]:
        """The latest events of a job: their numbers, and what they say as JSON."""
        part = self.find_part(key, "events")
        lines = [] if part is None else bytes(part.content).decode().splitlines()
        return [(int(number), text) for number, _, text in (line.partition(" ") for line in lines)]

    def remove_parts(self, key: Key, parts: Sequence[Part]) -> None:
        """Delete some parts of a job."""
        for part in parts:
            self._store.remove(_part(key, part))

    def change_lease(self, seen: Lease | None, lease: Lease) -> bool:
        """Write a lease in place of one that was ``seen``, or of none; whether it was there."""
        head = None if seen is None else seen.head
        return self._store.swap(_lease(lease), Record(lease.head, b""), head)

    def remove_lease(self, lease: Lease) -> None:
        """Delete the lease of a job that has ended."""
        self._store.remove(_lease(lease))

    def leases(self) -> Iterator[Lease]:
        """The leases of all jobs that have not ended."""
        for each in self._store.list_records("job_leases", _SERVICE, "", _MOST_LEASES):
            yield Lease.of(each.head)

    def _with_room(self, key: Key, write: Callable[[], T]) -> T:
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
        jobs = [stored for stored in self.listed(key.owner, "", most) if stored.key != key]
        freed: dict[str, Amount] = {}
        for each in self._store.list_records(over.kind, key.owner, "", most):
            id, _, _ = each.id.partition(" ")  # of the job, also of a part
            freed[id] = freed.get(id, NOTHING).plus(Amount(1, each.nbytes))
        left, evicted = over.excess, []
        for stored in evictable(jobs, self._now()):
            if left.within(NOTHING):
                break
            amount = freed.get(stored.key.id, NOTHING)
            if any(lacking > 0 < found for lacking, found in zip(left, amount, strict=True)):
                evicted.append(stored.key)
                left = left.minus(amount)
        if not left.within(NOTHING):
            return False
        for gone in evicted:
            self.remove(gone)
        return True


def _part(key: Key, part: Part) -> Key:
    return Key("job_parts", key.owner, f"{key.id} {part}")


def _lease(lease: Lease) -> Key:
    return Key("job_leases", _SERVICE, lease.id)
