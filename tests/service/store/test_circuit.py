"""While Redis is down, requests fail immediately; the store uses it again once it answers."""

import signal
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from gradwire_service.store import Unavailable

from tests.service.store.given import RECORD, ids, kept, key, opened, unavailable
from tests.service.store.redis_server import REDIS, RedisServer, redis_server

pytestmark = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")

SECRET = "hunter2:/@"


@contextmanager
def asking(store):
    """Counts the threads that turn to Redis, by each time that one takes a connection."""
    pool, asked = store._redis.connection_pool, Counter[Any]()
    take = pool.get_connection

    def counted(*arguments, **options):
        asked[threading.current_thread().name] += 1
        return take(*arguments, **options)

    pool.get_connection = counted
    try:
        yield asked
    finally:
        pool.get_connection = take


def refused_at_once(store):
    """The detail of a refusal for which Redis is not asked: only the probe turns to it."""
    with asking(store) as asked:
        detail = unavailable(lambda: store.find(key()))
    assert {*asked} <= {"gradwire-store"}
    return detail


def recovers(store):
    """Wait until the store answers, and return its answer."""
    while True:
        try:
            return store.find(key())
        except Unavailable:
            time.sleep(0.02)


def test_the_store_recovers_after_a_restart_of_redis(server, caplog):
    with opened(server.url) as store:
        store.put(key(), RECORD)
        server.stop()
        unavailable(lambda: store.find(key()))
        assert refused_at_once(store) == "the store cannot be reached"
        server.start()
        assert recovers(store) is None
        store.put(key(), RECORD)
        assert kept(store, key()) == RECORD
    assert "the store answers again" in caplog.text


def test_dead_connections_are_replaced(server):
    """If Redis restarts between requests, no request fails."""
    with opened(server.url) as store:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: store.usage("tapes"), range(40)))
        server.stop()
        server.start().ready()
        assert [store.find(key()) for _ in range(10)] == [None] * 10


def test_a_store_can_be_opened_before_redis_starts(tmp_path):
    server = RedisServer(tmp_path)
    with opened(server.url) as store:
        assert refused_at_once(store) == "the store cannot be reached"
        try:
            server.start()
            assert recovers(store) is None
        finally:
            server.stop()


def test_requests_do_not_wait_for_a_hung_redis(server):
    with opened(server.url) as patient:
        patient.put(key(), RECORD)
    with opened(server.url, timeout_seconds=0.3) as store:
        recovers(store)  # where even its start took longer
        server.send(signal.SIGSTOP)
        with ThreadPoolExecutor(8, "asker") as pool, asking(store) as asked:
            list(pool.map(lambda _: unavailable(lambda: store.find(key())), range(100)))
        del asked["gradwire-store"]
        assert {*asked.values()} == {1}, "each thread waits once, and all together"
        watches = [t for t in threading.enumerate() if t.name == "gradwire-store"]
        assert len(watches) == 1
        for _ in range(20):
            assert refused_at_once(store) == "the store does not answer"
        server.send(signal.SIGCONT)
        assert recovers(store)[:2] == RECORD
        watches[0].join()
        assert not watches[0].is_alive()


def test_connecting_to_an_unresponsive_host_times_out():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        with opened(f"redis://127.0.0.1:{port}", connect_seconds=0.2) as store:
            assert refused_at_once(store) == "the store does not answer"
        for one in waiting:
            one.close()


def test_failed_authentication_does_not_log_the_password(tmp_path, caplog):
    with redis_server(tmp_path, "--requirepass", "another") as server:
        address = server.url.removeprefix("redis://")
        with opened(f"redis://:hunter2%3A%2F%40@{address}") as store:
            assert refused_at_once(store) == "the store refuses this service"
            with server.client() as client:
                client.execute_command("AUTH", "another")
                client.config_set("requirepass", SECRET)
            assert recovers(store) is None
    assert "WRONGPASS" in caplog.text or "invalid username-password" in caplog.text
    assert f"redis://{address}" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.thorough
def test_the_store_recovers_after_redis_has_loaded_its_file(tmp_path):
    with redis_server(tmp_path) as server, opened(server.url) as store:
        for number in range(100):
            store.put(key(str(number), kind="programs"), RECORD)
        store._redis.save()
    slow = "--key-load-delay", "5000", "--loading-process-events-interval-bytes", "1024"
    again = RedisServer(tmp_path, *slow)
    troubles = set[str]()
    for _ in range(20):  # this process may have been paused while Redis loaded
        try:
            again.start()
            with opened(again.url) as store:
                assert len(loaded(store, troubles)) == 100
        finally:
            again.stop()
        if "the store is loading its data" in troubles:
            return
    raise AssertionError(troubles)


def loaded(store, troubles):
    """The ids of programs as soon as the store has them; adds why it had not before."""
    while True:
        try:
            if found := ids(store, "programs"):
                return found
        except Unavailable as refusal:
            troubles.add(refusal.detail)
        time.sleep(0.01)
