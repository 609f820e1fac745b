"""Storage between requests: the store that the settings name, and its policies."""

import time
from collections.abc import Callable

from gradwire_service.settings import Settings
from gradwire_service.settings.memory import results_bytes
from gradwire_service.store.interface import NotOpened, SharedStore, Store, Unavailable
from gradwire_service.store.local import LocalStore
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    Exchanged,
    Key,
    Kind,
    Record,
    StoredRecord,
)
from gradwire_service.store.sqlite import SqliteStore

__all__ = [
    "STORED_JOBS",
    "Exchanged",
    "Key",
    "Kind",
    "NotOpened",
    "Record",
    "SharedStore",
    "Store",
    "StoredRecord",
    "Unavailable",
    "open_store",
    "policies",
]

#: Consumed tapes that are remembered, per tape that may be stored.
_USED_PER_TAPE = 10
#: Results that may be stored, per tensor: a step of a training has many small ones.
_PER_TENSOR = 10
#: Jobs that are stored, per job that may run or wait: the others have ended.
STORED_JOBS = 2
#: The request of a job, its checkpoint, its events and its answer.
_PARTS_PER_JOB = 4


def open_store(settings: Settings, now: Callable[[], float] | None = None) -> SharedStore:
    """Open the store at ``settings.store``.

    That is ``memory:``, ``local:PATH``, ``sqlite:PATH``, or the URL of a Redis.

    ``now`` tells the time in seconds since 1970, by default as this machine or the Redis does.
    Raises: ``NotOpened`` for a file; a Redis may be started later.
    """
    scheme, _, path = settings.store.partition(":")
    by_kind = policies(settings)
    if scheme == "memory":
        return MemoryStore(by_kind, now or time.time)
    if scheme in ("local", "sqlite"):
        file = SqliteStore(path, by_kind, now or time.time)
        if scheme == "sqlite":
            return file
        return LocalStore(file, MemoryStore(by_kind, now or time.time))
    from gradwire_service.store.redis import RedisStore  # its client is loaded only if needed

    return RedisStore(
        settings.store,
        by_kind,
        prefix=settings.store_prefix,
        connect_seconds=settings.store_connect_seconds,
        timeout_seconds=settings.store_timeout_seconds,
        now=now,
    )


def policies(settings: Settings) -> dict[Kind, Policy]:
    """Quotas and expiry of each kind.

    The quotas of as many tenants as are set fit in the store. Where no number is set, there may be
    any, and they share it fairly.
    """
    s = settings
    is_shared = "tenants" not in s.model_fields_set
    programs = Policy(
        per_owner=Amount(s.max_programs_per_tenant, s.max_programs_bytes_per_tenant),
        total=Amount(s.max_programs, s.max_programs_bytes),
    )
    tapes = Policy(
        per_owner=Amount(s.max_tapes_per_tenant, s.max_tapes_bytes_per_tenant),
        total=Amount(s.max_tapes, s.max_tapes_bytes),
        ttl_seconds=s.tape_ttl_seconds,
    )
    used = Policy(
        per_owner=tapes.per_owner._replace(records=_USED_PER_TAPE * tapes.per_owner.records),
        total=tapes.total._replace(records=_USED_PER_TAPE * tapes.total.records),
        ttl_seconds=CONSUMED_SECONDS,
        evicts=True,
    )
    tensors = Policy(
        per_owner=Amount(s.max_tensors_per_tenant, s.max_tensors_bytes_per_tenant),
        total=Amount(s.max_tensors, s.max_tensors_bytes),
        ttl_seconds=s.tensor_ttl_seconds,
        evicts=True,
    )
    held = tensors.total.nbytes
    if s.store.startswith("local:"):
        held = min(held, results_bytes(vars(s)))
    results = Policy(  # nobody else has these values, so they are not evicted
        per_owner=Amount(
            _PER_TENSOR * tensors.per_owner.records, min(tensors.per_owner.nbytes, held)
        ),
        total=Amount(_PER_TENSOR * tensors.total.records, held),
        ttl_seconds=s.tensor_ttl_seconds,
    )
    jobs = Policy(
        per_owner=Amount(STORED_JOBS * s.max_jobs_per_tenant, s.max_jobs_bytes_per_tenant),
        total=Amount(s.max_jobs, s.max_jobs_bytes),
        ttl_seconds=s.job_ttl_seconds,
    )
    job_parts = jobs._replace(
        per_owner=jobs.per_owner._replace(records=_PARTS_PER_JOB * jobs.per_owner.records),
        total=jobs.total._replace(records=_PARTS_PER_JOB * jobs.total.records),
    )
    by_kind: dict[Kind, Policy] = {
        "tapes": tapes,
        "used": used,
        "programs": programs,
        "names": programs,
        "tensors": tensors,
        "results": results,
        "jobs": jobs,
        "job_parts": job_parts,
    }
    by_kind = {kind: each._replace(shares_fairly=is_shared) for kind, each in by_kind.items()}
    by_kind["job_leases"] = jobs._replace(per_owner=jobs.total)  # all are the service's own
    return by_kind
