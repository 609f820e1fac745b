"""Fixtures with each kind of store, empty."""

import pytest
from gradwire_service.store.local import LocalStore
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.sqlite import SqliteStore

from tests.service.store.given import POLICIES, in_redis
from tests.service.store.redis_server import REDIS, redis_server


@pytest.fixture(params=["memory", "local", "sqlite", "redis"])
def store(request, clock, tmp_path):
    if request.param == "redis":
        store = in_redis(request.getfixturevalue("redis_url"), POLICIES, clock)
    elif request.param == "memory":
        store = MemoryStore(POLICIES, clock)
    else:
        store = SqliteStore(str(tmp_path / "records.db"), POLICIES, clock)
        if request.param == "local":
            store = LocalStore(store, MemoryStore(POLICIES, clock))
    yield store
    store.close()


@pytest.fixture
def server(tmp_path):
    if REDIS is None:
        pytest.skip("redis-server is not installed")
    with redis_server(tmp_path) as server:
        yield server


@pytest.fixture(scope="session")
def every_redis(request):
    """The address of Redis, if it is installed, to compare with the other stores."""
    return [request.getfixturevalue("redis_url")] if REDIS else []
