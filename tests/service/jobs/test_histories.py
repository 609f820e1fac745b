"""No interleaving of replicas and faults leaves an end, loses a result, or makes two."""

import os

import pytest
from gradwire_service.settings import Settings
from gradwire_service.store import policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.sqlite import SqliteStore

from tests.effort import share
from tests.service.histories import TTL, check_histories
from tests.service.store.given import in_redis

#: JOB_HISTORIES=10000 tries as many.
NUMBER = int(os.environ.get("JOB_HISTORIES", share(400)))
POLICIES = policies(Settings(job_ttl_seconds=TTL))


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
def test_ends_are_final_whatever_comes_between(kind, request):
    def opened(clock):
        if kind == "redis":
            return in_redis(request.getfixturevalue("redis_url"), POLICIES, clock)
        if kind == "sqlite":
            return SqliteStore(":memory:", POLICIES, clock)
        return MemoryStore(POLICIES, clock)

    check_histories(opened, NUMBER)
