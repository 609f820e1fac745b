"""Records in Redis are shared and counted correctly, whatever Redis loses or refuses."""

import math
import re
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from gradwire_service.store import Unavailable
from gradwire_service.store.quotas import Amount, OverQuota, Policy
from gradwire_service.store.records import Change, Notice, Peeked
from gradwire_service.store.redis import RedisStore
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.fleet.processes import free_port
from tests.service.store.given import (
    ALL,
    KINDS,
    MANY,
    ME,
    OWNED,
    PLENTY,
    POLICIES,
    RECORD,
    YOU,
    ids,
    in_redis,
    kept,
    key,
    of_size,
    opened,
    refused,
    unavailable,
)
from tests.service.store.redis_server import REDIS, redis_server

pytestmark = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")


def test_only_one_of_many_concurrent_stores_consumes_a_record(redis_url):
    stores = [in_redis(redis_url, POLICIES)]
    stores += [RedisStore(redis_url, POLICIES, prefix=stores[0]._prefix) for _ in range(2)]
    for number in range(20):
        of = key(str(number))
        stores[0].put(of, of_size(1))
        with ThreadPoolExecutor(9) as pool:
            used = pool.map(lambda n, of=of: stores[n % 3].consume(of, f"caller-{n}"), range(9))
            assert sum(used) == 1
    for store in stores:
        store.close()


def test_stores_with_different_prefixes_share_nothing(redis_url):
    mine, yours = in_redis(redis_url, POLICIES), in_redis(redis_url, POLICIES)
    mine.put(key(), RECORD)
    assert yours.find(key()) is None
    assert yours.usage("tapes") == (0, 0)
    mine.close()
    yours.close()


def test_expiry_uses_the_clock_of_redis(redis_url):
    store = in_redis(redis_url, POLICIES | {"tapes": Policy(MANY, MANY, 0.2)})

    def redis_time():
        seconds, microseconds = store._redis.time()
        return seconds + microseconds * 1e-6

    before = redis_time()
    expires_at = store.put(key(), RECORD)
    assert before <= expires_at - 0.2 <= redis_time()
    while redis_time() <= expires_at:
        time.sleep(0.01)
    assert store.find(key()) is None
    assert store.usage("tapes") == (0, 0)
    store.close()


def test_a_unix_socket_can_be_the_address(tmp_path):
    path = tmp_path / "redis.sock"
    with redis_server(tmp_path, "--unixsocket", str(path)), opened(f"unix://{path}") as store:
        store.put(key(), RECORD)
        assert kept(store, key()) == RECORD


def test_finding_a_record_without_expiry_writes_nothing(server):
    """With `appendfsync always` each write waits for the disk."""
    with opened(server.url) as store:
        store.put(key(kind="programs"), RECORD)
        before = store._redis.info("persistence")["rdb_changes_since_last_save"]
        assert kept(store, key(kind="programs")) == RECORD
        assert ids(store, "programs") == ["a"]
        assert store._redis.info("persistence")["rdb_changes_since_last_save"] == before


def test_large_bodies_are_stored_unchanged(redis_url):
    store = in_redis(redis_url, PLENTY)
    body = bytes(range(256)) * 100_000
    store.put(key(), of_size(0)._replace(body=body))
    held = store.find(key())
    assert held is not None
    assert held.body == body
    store.close()


@examples(50)
@given(
    st.sets(st.tuples(st.sampled_from(KINDS), st.sampled_from("mn"), st.sampled_from("abc"))),
    st.randoms(use_true_random=False),
)
def test_after_redis_drops_records_the_rest_are_found_and_counted(redis_url, put, random):
    """Redis drops records by its eviction policy, or when they expire."""
    store = in_redis(redis_url, PLENTY)
    for kind, owner, id in sorted(put):
        store.put(key(id, owner, kind), of_size(10))
    if put:
        kind, owner, id = min(put)
        store.consume(key(id, owner, kind), "first")
    names = sorted(store._redis.scan_iter(f"{store._prefix}:*"))
    for name in random.sample(names, random.randint(0, len(names))):
        store._redis.delete(name)
    assert_counted(store)
    for kind in KINDS:
        store.put(key("new", "m", kind), of_size(10))
        assert kept(store, key("new", "m", kind)) == of_size(10)
    assert_counted(store)
    store.close()


def assert_counted(store):
    """Check that finding, listing and counting agree."""
    for kind in KINDS:
        held = {
            (owner, id): record.head.encode() + record.body
            for owner in "mn"
            for id in [*"abc", "new"]
            if (record := store.find(key(id, owner, kind))) and record.used_by is None
        }
        for owner in "mn":
            assert ids(store, kind, owner) == sorted(id for whose, id in held if whose == owner)
        store._redis.delete(f"{store._prefix}:{kind}:counted")  # as if it had expired
        assert store.usage(kind) == (len(held), sum(map(len, held.values())))


def test_quotas_hold_even_if_redis_lost_the_counters(redis_url, clock):
    store = in_redis(redis_url, POLICIES, clock)
    for id in "abc":
        clock.now += 0.1
        store.put(key(id, kind="tensors"), of_size(50))
    for what in "expiry:me", "owners":
        store._redis.delete(f"{store._prefix}:tensors:{what}")
    for number in range(2 * ALL.records):
        clock.now += 0.1
        store.put(key(str(number), kind="tensors"), of_size(50))
        store.put(key(str(number), YOU, kind="tensors"), of_size(50))
    held = ids(store, "tensors"), ids(store, "tensors", YOU)
    assert sum(map(len, held)) == ALL.records
    store.close()


@pytest.mark.thorough
def test_evicting_many_records_needs_few_commands(redis_url, clock):
    """To evict 75 of 1,000 records takes little more for each than to evict one."""
    most = Amount(1000, 1000 * 100)
    store = in_redis(redis_url, POLICIES | {"tensors": Policy(most, most, 1e9, evicts=True)}, clock)
    for number in range(most.records):
        store.put(key(str(number), kind="tensors"), of_size(100))
    one = commands(store, lambda: store.put(key("z", kind="tensors"), of_size(100)))
    many = commands(store, lambda: store.put(key("zz", kind="tensors"), of_size(7500)))
    assert store.usage("tensors") == (926, 925 * 100 + 7500)
    assert many < one + 75 * one / 2
    store.close()


def test_a_refused_body_is_not_left_in_redis(redis_url):
    store = in_redis(redis_url, POLICIES)
    for kind in KINDS:
        refused(store, key(kind=kind), of_size(301))
    for number in range(2 * ALL.records):
        store.put(key(str(number), kind="tensors"), of_size(50))
    assert list(store._redis.scan_iter(f"{store._prefix}::*")) == []
    store.close()


@pytest.mark.thorough
def test_concurrent_evictions_keep_to_the_quotas(redis_url):
    """A script that finds no space is run again, since other stores may have just taken it."""
    stores = [in_redis(redis_url, POLICIES)]
    stores += [RedisStore(redis_url, POLICIES, prefix=stores[0]._prefix) for _ in range(2)]

    def put(number):
        kind = ("tensors", "tapes")[number % 2]
        at = key(str(number), f"owner {number % 3}", kind)
        with suppress(OverQuota):
            stores[number % 3].put(at, of_size(number % 140))
            stores[0].consume(at, "first")

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(put, range(300)))
    for kind in "tensors", "tapes", "used":
        total = stores[0].usage(kind)
        owned = [stores[0].usage(kind, f"owner {number}") for number in range(3)]
        assert total.within(ALL)
        assert all(amount.within(OWNED) for amount in owned)
        assert total == tuple(map(sum, zip(*owned, strict=True)))
    for store in stores:
        store.close()


def commands(store, work):
    """The number of commands that Redis ran, including those in scripts."""
    store._redis.config_resetstat()
    work()
    return sum(told["calls"] for told in store._redis.info("commandstats").values())


@pytest.mark.thorough
def test_very_many_records_can_be_listed(redis_url):
    """More than fit on the stack of a script."""
    store = in_redis(redis_url, PLENTY)
    names = [f"{number:04}" for number in range(8300)]
    for name in names:
        store.put(key(name, kind="names"), of_size(0))
    assert ids(store, "names") == names[:100]
    assert [record.id for record in store.list_records("names", ME, "", 10_000)] == names
    store.close()


def test_a_record_that_redis_lost_can_be_stored_again(server):
    with opened(server.url) as store:
        for lost in "script_flush", "flushall":
            store.put(key(), RECORD)
            getattr(store._redis, lost)()
            assert (kept(store, key()) == RECORD) is (lost == "script_flush")
            if lost == "flushall":
                assert all(store.usage(kind) == (0, 0) for kind in POLICIES)
            store.put(key(), RECORD)
            assert store.consume(key(), "first")


def test_a_full_redis_refuses_new_records_and_returns_existing_ones(server, caplog):
    with opened(server.url) as store:
        for id in "ab":
            store.put(key(id), RECORD)
        store._redis.config_set("maxmemory", 1)
        secret = RECORD._replace(body=b"not to be logged")
        assert unavailable(lambda: store.put(key("c"), secret)) == "the store is full"
        assert unavailable(lambda: store.consume(key("a"), "first")) == "the store is full"
        assert kept(store, key("a")) == RECORD
        assert ids(store, "tapes") == ["a", "b"]
        assert store.remove(key("b"))
        assert store.find(key("b")) is None
        store._redis.config_set("maxmemory", 0)
        store._redis.delete(f"{store._prefix}:tapes:counted")
        assert store.usage("tapes") == (1, RECORD.nbytes)
        assert store.consume(key("a"), "first")
    assert caplog.text.count("the store is full") == 1, "once is enough"
    assert "not to be logged" not in caplog.text


def test_records_are_read_from_a_read_only_replica(server):
    with opened(server.url) as store:
        store.put(key(), RECORD)
        store._redis.execute_command("REPLICAOF", "127.0.0.1", free_port())
        for work in lambda: store.put(key("b"), RECORD), lambda: store.remove(key()):
            assert unavailable(work) == "the store cannot be written to"
        assert unavailable(lambda: store.consume(key())) == "the store cannot be written to"
        assert kept(store, key()) == RECORD
        store._redis.execute_command("REPLICAOF", "NO", "ONE")
        assert store.consume(key())


def test_if_redis_cannot_write_its_disk_new_records_are_refused(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    with redis_server(folder, "--save", "100000 1") as server, opened(server.url) as store:
        store.put(key(), RECORD)
        shutil.rmtree(folder)
        store._redis.bgsave()
        while store._redis.info("persistence")["rdb_last_bgsave_status"] == "ok":
            time.sleep(0.01)
        assert unavailable(lambda: store.put(key("b"), RECORD)) == "the disk of the store fails"
        assert kept(store, key()) == RECORD
        server.send(signal.SIGKILL)  # SIGTERM would not stop it, since it cannot save


def test_missing_permissions_are_reported(server, caplog):
    with server.client() as client:
        client.execute_command(
            "ACL", "SETUSER", "reader", "on", ">hunter2", "~*", "+@read", "+ping"
        )
    url = server.url.replace("redis://", "redis://reader:hunter2@")
    with opened(url) as store:
        assert unavailable(lambda: store.put(key(), RECORD)) == "the store refuses this service"
    assert "no permissions" in caplog.text
    assert "hunter2" not in caplog.text


def test_the_documented_redis_user_has_sufficient_permissions(server, clock, monkeypatch):
    page = (Path(__file__).parents[3] / "docs/reference/stores.md").read_text(encoding="utf-8")
    (user,) = re.findall(r"^user gradwire (.+)$", page, re.MULTILINE)
    with server.client() as operator:
        operator.execute_command("ACL", "SETUSER", "gradwire", *user.split())
        url = server.url.replace("redis://", "redis://gradwire:secret@")
        with opened(url, POLICIES, now=clock) as store:
            for number in range(2 * ALL.records):
                clock.now += 0.1
                of = key(str(number), "mnop"[number % 4], "tensors")
                store.put(of, RECORD)
                assert kept(store, of) == RECORD
            assert store.consume(of, "first")
            assert store.remove(of)
            store.put(of, RECORD)
            operator.delete(f"gradwire:tensors:expiry:{of.owner}")
            assert kept(store, of) == RECORD
            assert ids(store, "tensors", of.owner) == [of.id]
            store.put(key(kind="programs"), RECORD)
            large = Change(key("l", kind="names"), "", b"x" * 250)
            monkeypatch.setattr("gradwire_service.store.redis._SHORT_BYTES", 100)
            for change in large, large._replace(body=b"y", appends=True), large._replace(head=None):
                assert store.commit([change], Notice(change.key)) is not None
                peeked = Peeked("", math.inf, b"y" * change.appends)
                found = None if change.head is None else peeked
                assert store.peek([change.key], 250) == [found]
            clock.now += 1000
            operator.delete("gradwire:tensors:counted")  # as if it had expired
            assert [store.usage(kind).records for kind in KINDS] == [0, 1, 0, 0]
        refused = [(entry["reason"], entry["object"]) for entry in operator.acl_log()]
        assert [of for of in refused if of[1] != "client|setinfo"] == []  # redis-py's own


@pytest.mark.thorough
def test_without_redis_its_client_is_not_imported(loaded):
    assert "gradwire_service.store" in loaded
    assert "redis" not in loaded


def test_programming_errors_are_not_treated_as_an_outage(redis_url):
    store = in_redis(redis_url, POLICIES)
    store._redis.set(f"{store._prefix}:tapes:expiry:{ME}", "of another type")
    with pytest.raises(Exception, match="WRONGTYPE") as error:
        store.put(key(), RECORD)
    assert not isinstance(error.value, Unavailable)
    assert store.find(key(kind="tensors")) is None
    store.close()
