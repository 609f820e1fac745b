"""Jobs, and the leases of the replicas that run them, as they are written in the store.

Two versions of the service may share it. What a later one has added is kept and ignored, what an
earlier one has not written has a default. A record that says to be of a later ``version`` is read,
but not written.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from gradwire_service.problems import RequestError
from gradwire_service.store import Key
from gradwire_service.store.records import ListedRecord, Peeked, StoredRecord, known_fields

State: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
#: States in which a job does not change any more.
ENDED: frozenset[State] = frozenset({"succeeded", "failed", "cancelled"})
#: What is stored beside a job.
JobPart: TypeAlias = Literal["request", "checkpoint", "events", "answer"]
PARTS: tuple[JobPart, ...] = ("request", "checkpoint", "events", "answer")
#: The version of the records that this service writes, and that of those without one.
VERSION = 1
#: The owner of all leases: the service itself.
SERVICE = ""
_TOKEN_BYTES = 24
#: The jobs that are read without being decoded again: each that is begun has its owner's counted.
_MAX_DECODED = 1024


class Job(NamedTuple):
    """The record of a job; times are in seconds since 1970, ``digest`` is of its request."""

    kind: str = ""
    created_at: float = 0.0
    digest: str = ""
    state: State = "queued"
    started_at: float | None = None
    finished_at: float | None = None
    progress: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None
    #: How often another replica, or a restarted one, has gone on with it.
    resumed: int = 0
    #: When its end was first sent to somebody.
    taken_at: float | None = None
    #: What a later version has written beside these.
    others: Mapping[str, Any] = {}

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def failed_early(self) -> bool:
        """True if it has failed before its start was evaluated."""
        return self.state == "failed" and self.progress is None

    def to_json(self) -> str:
        """The job as text, without the fields that are as by default."""
        fields, default = self._asdict(), self._field_defaults
        written = {name: value for name, value in fields.items() if value != default[name]}
        return json.dumps(written.pop("others", {}) | written, separators=(",", ":"))

    @classmethod
    @lru_cache(_MAX_DECODED)
    def from_json(cls, text: str) -> Self:
        """The job that a text says."""
        return cls(**known_fields(text, cls._fields[:-1]))


class StoredJob(NamedTuple):
    """A job in the store, with its key, the time when it expires, and its text."""

    key: Key
    job: Job
    expires_at: float
    head: str = ""

    @classmethod
    def of(cls, key: Key, record: StoredRecord | ListedRecord | Peeked) -> Self:
        """The job in a record."""
        return cls(key, Job.from_json(record.head), record.expires_at, record.head)

    @property
    def is_later(self) -> bool:
        """True if only a later version of the service may change it."""
        return bool(self.job.others.get("version", VERSION) > VERSION)


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
    #: What a later version has written after these.
    others: tuple[Any, ...] = ()

    @property
    def key(self) -> Key:
        return lease_of(self.id)

    def to_json(self) -> str:
        """The lease as text."""
        return json.dumps([*self[:-1], *self.others])

    @classmethod
    def from_json(cls, text: str) -> Self | None:
        """The lease that a text says; None if only a later version of the service can read it."""
        found, known = json.loads(text), len(cls._fields) - 1
        if not isinstance(found, list):
            return None
        return cls(*found[:known])._replace(others=tuple(found[known:]))


class Unknown(RequestError):
    """There is no such job."""

    def __init__(self) -> None:
        super().__init__(
            "unknown_job",
            "there is no job with this id: it has expired, was deleted, or made room for another",
            hint="GET /v1/jobs lists the jobs that there are",
        )


def lease_of(id: str) -> Key:
    """The key of the lease of the job with this id."""
    return Key("job_leases", SERVICE, id)


def part_of(key: Key, part: JobPart) -> Key:
    """The key of a part of a job."""
    return Key("job_parts", key.owner, f"{key.id} {part}")


def new_id(owner: str, idempotency_key: bytes | None) -> str:
    """An unguessable id; equal for requests of an owner with one idempotency key."""
    if idempotency_key is None:
        return secrets.token_urlsafe(_TOKEN_BYTES)
    return sha256(b"%s %s" % (owner.encode(), idempotency_key)).hexdigest()[: 2 * _TOKEN_BYTES]
