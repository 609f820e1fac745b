"""Every store implements the interface."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Record, open_store, policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.quotas import Amount, OverQuota
from gradwire_service.store.records import CONSUMED_SECONDS, Change, ListedRecord, Notice, Upload
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.store.timing import time_calls
from gradwire_service.wire.shared import SharedMemory
from hypothesis import example, given
from hypothesis import strategies as st

from tests.service.store.given import (
    ALL,
    KINDS,
    ME,
    PLENTY,
    POLICIES,
    RECORD,
    TTL,
    YOU,
    ids,
    in_redis,
    kept,
    key,
    of_size,
    refused,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_found_after_put(store, clock, kind):
    assert RECORD.nbytes == 100
    expires_at = store.put(key(kind=kind), RECORD)
    assert expires_at == (clock.now + TTL if kind in ("tapes", "tensors") else math.inf)
    assert store.find(key(kind=kind)) == (*RECORD, expires_at, None)
    assert store.find(key(kind=kind), body=False) == (RECORD.head, None, expires_at, None)
    others = {*KINDS} - {kind}
    assert all(store.find(key(kind=other)) is None for other in others)


def test_putting_a_record_again_replaces_it(store):
    for record in RECORD, of_size(300), of_size(0):
        store.put(key(), record)
        assert kept(store, key()) == record
    store.put(key("b"), of_size(300))


@pytest.mark.parametrize("body", [True, False])
def test_each_use_extends_the_expiry(store, clock, body):
    store.put(key(), RECORD)
    for _ in range(5):
        clock.now += TTL - 1
        assert store.find(key(), body=body).expires_at == clock.now + TTL
    clock.now += TTL
    assert store.find(key()) is None
    assert ids(store, "tapes") == []
    assert not store.consume(key())
    assert not store.remove(key())


def test_records_without_expiry_stay(store, clock):
    store.put(key(kind="programs"), RECORD)
    clock.now += 1e9
    assert kept(store, key(kind="programs")) == RECORD


def test_a_record_can_be_consumed_once(store, clock):
    store.put(key(), RECORD)
    assert store.consume(key())
    assert not store.consume(key())
    assert store.find(key()) == ("", b"", clock.now + CONSUMED_SECONDS, "")
    assert ids(store, "tapes") == []
    clock.now += CONSUMED_SECONDS
    assert store.find(key()) is None


def commit(store, *changes):
    return store.commit(changes) is not None


def test_records_change_by_those_who_know_their_heads(store, clock):
    first, second = Record("1", b"one"), Record("2", b"two")
    assert not commit(store, Change(key(), *second, "1"))
    assert kept(store, key()) is None
    assert commit(store, Change(key(), *first, None))
    for seen in None, "2":
        assert not commit(store, Change(key(), *second, seen))
    assert kept(store, key()) == first
    assert commit(store, Change(key(), *second, "1"))
    assert kept(store, key()) == second
    assert store.find(key()).expires_at == clock.now + TTL
    clock.now += TTL  # what has expired is not there
    assert not commit(store, Change(key(), *first, "2"))
    assert commit(store, Change(key(), *first, None))
    with pytest.raises(OverQuota, match="the limit is") as refused:
        commit(store, Change(key(), "", bytes(1000), "1"))
    assert refused.value.excess == (0, 700)
    assert kept(store, key()) == first


def test_all_of_a_commit_happens_or_nothing(store):
    store.put(key("a"), Record("a", b"1"))
    store.put(key("b"), Record("b", b"2"))
    one, other = Change(key("a"), "new", b"3", "a"), Change(key("b"), None, seen="other")
    fits, over = Change(key("c"), "c", b"4", None), Change(key("d"), "", bytes(300), None)
    assert not commit(store, one, fits, other)
    with pytest.raises(OverQuota):
        commit(store, one, fits, over)
    assert [kept(store, key(id)) for id in "abcd"] == [("a", b"1"), ("b", b"2"), None, None]
    assert store.usage("tapes", ME) == (2, 4)
    assert commit(store, one, fits, other._replace(seen="b"))
    assert [kept(store, key(id)) for id in "abcd"] == [("new", b"3"), None, ("c", b"4"), None]
    assert store.usage("tapes", ME) == (2, 6)


@pytest.mark.parametrize("nbytes", [10, 250])
def test_bodies_are_kept_replaced_and_appended_to(store, nbytes, monkeypatch):
    monkeypatch.setattr("gradwire_service.store.redis._SHORT_BYTES", 100)
    assert commit(store, Change(key(), "1", b"x" * nbytes))
    assert commit(store, Change(key(), "22", seen="1"))
    assert kept(store, key()) == ("22", b"x" * nbytes)
    assert commit(store, Change(key(), "3", b"yz", "22", appends=True))
    assert kept(store, key()) == ("3", b"x" * nbytes + b"yz")
    assert store.usage("tapes", ME) == (1, nbytes + 3)
    assert [found and found[0::2] for found in store.peek([key(), key("b")], nbytes)] == [
        ("3", b"yz"),
        None,
    ]
    assert store.peek([key()])[0].tail == b""
    with pytest.raises(OverQuota):
        commit(store, Change(key(), "3", b"y" * 300, "3", appends=True))
    assert commit(store, Change(key(), None, seen="3"))
    assert store.usage("tapes", ME) == (0, 0)
    for change in Change(key(), "4"), Change(key("b"), "5", b"6", appends=True):
        assert commit(store, change)
        assert kept(store, change.key) == (change.head, change.body or b"")


def test_reading_writes_once_in_a_tenth_of_the_time_to_live(store, clock):
    """Of kinds that are not evicted by use; to peek is no use at all."""
    first = store.put(key(), RECORD)
    clock.now += 0.09 * TTL
    assert store.find(key()).expires_at == store.peek([key()])[0].expires_at == first
    clock.now += 0.02 * TTL
    assert store.peek([key()])[0].expires_at == first
    assert store.find(key()).expires_at == clock.now + TTL
    tensor = key(kind="tensors")
    store.put(tensor, RECORD)
    clock.now += 0.01 * TTL
    assert store.find(tensor).expires_at == clock.now + TTL


def test_bodies_that_another_process_has_shared_are_stored(store, monkeypatch):
    for kind in "tapes", "names":
        monkeypatch.setitem(store.policies, kind, PLENTY[kind])
    shared = SharedMemory.of_length(256 * 4096)
    shared.rewrite(bytes(range(256)) * 4096)
    assert commit(store, Change(key(), "", shared))
    store.put(key(kind="names"), Record("", shared))
    for kind in "tapes", "names":
        assert store.find(key(kind=kind)).content == bytes(range(256)) * 4096


def test_one_of_many_commits_succeeds(store):
    store.put(key(), Record("0", b""))
    with ThreadPoolExecutor(8) as pool:
        for turn in range(10):
            change = lambda n, turn=turn: commit(  # noqa: E731
                store, Change(key(), str(turn + 1), b"%d" % n, str(turn))
            )
            assert sum(pool.map(change, range(8))) == 1


def test_the_same_request_may_consume_a_record_again(store, clock):
    store.put(key(), RECORD)
    end = clock.now + CONSUMED_SECONDS
    assert store.consume(key(), "first")
    assert store.usage("tapes") == (0, 0)
    for _ in range(3):
        clock.now += CONSUMED_SECONDS / 4
        assert store.consume(key(), "first")
        assert not store.consume(key(), "firs")
        assert not store.consume(key(), "second")
        assert not store.consume(key())
        assert store.find(key()) == (*RECORD, end, "first")
        assert store.find(key(), body=False) == (RECORD.head, None, end, "first")
    assert store.find(key(owner=YOU)) is None
    assert not store.consume(key(owner=YOU), "first")
    assert not store.consume(key(kind="tensors"), "first")
    clock.now = end
    assert store.find(key()) is None
    assert not store.consume(key(), "first")


def test_a_record_consumed_without_a_key_cannot_be_consumed_again(store):
    store.put(key(), RECORD)
    assert store.consume(key())
    assert not store.consume(key(), "late")
    assert not store.consume(key(), " ")
    assert store.find(key()) == ("", b"", store.find(key()).expires_at, "")


def test_removed_records_are_unknown(store):
    for used_up_by in None, "", "first":
        store.put(key(), RECORD)
        if used_up_by is not None:
            store.consume(key(), used_up_by)
        assert store.remove(key())
        assert not store.remove(key())
        assert store.find(key()) is None


def test_records_are_listed_by_id_in_pages(store, clock):
    for id in "cab":
        store.put(key(id, kind="programs"), Record(f"head of {id}", b""))
    store.put(key("bb", YOU, "programs"), RECORD)
    first = store.list_records("programs", ME, "", 2)
    assert first == [ListedRecord(id, f"head of {id}", math.inf, 9) for id in "ab"]
    assert [record.id for record in store.list_records("programs", ME, "b", 2)] == ["c"]
    assert store.list_records("programs", ME, "c", 2) == []
    assert store.list_records("programs", ME, "", 0) == []


def test_records_count_against_the_quota_until_they_are_gone(store, clock):
    for id in "abc":
        store.put(key(id), of_size(1))
    for id, free in (
        ("d", lambda: store.remove(key("a"))),
        ("e", lambda: store.consume(key("b"))),
        ("f", lambda: setattr(clock, "now", clock.now + TTL)),
    ):
        refused(store, key(id), of_size(1))
        free()
        store.put(key(id), of_size(1))


def test_bytes_count_against_the_quota_until_they_are_gone(store):
    store.put(key("a"), of_size(300))
    refused(store, key("b"), of_size(1))
    store.remove(key("a"))
    refused(store, key("b"), of_size(301))
    store.put(key("b"), of_size(300))


def test_usage_reports_records_and_bytes(store, clock):
    assert store.usage("tapes") == (0, 0)
    store.put(key("a"), of_size(10))
    store.put(key("a", YOU), of_size(20))
    store.put(key(kind="tensors"), of_size(40))
    assert store.usage("tapes") == (2, 30)
    of_each = [store.usage("tapes", owner) for owner in (ME, YOU, "nobody")]
    assert of_each == [(1, 10), (1, 20), (0, 0)]
    assert store.consume(key("a"))
    assert store.usage("tapes") == (1, 20)
    clock.now += TTL
    assert store.usage("tapes") == store.usage("tensors") == (0, 0)


def test_records_are_isolated_per_owner(store):
    store.put(key(), RECORD)
    foreign = key(owner=YOU)
    assert store.find(foreign) is None
    assert ids(store, "tapes", YOU) == []
    assert not store.consume(foreign)
    assert not store.remove(foreign)
    assert store.consume(key())
    assert store.find(foreign) is None


def test_a_consumed_record_may_be_put_again(store):
    store.put(key(), RECORD)
    store.consume(key())
    store.put(key(), RECORD)
    assert kept(store, key()) == RECORD


def test_only_one_of_many_threads_consumes_a_record(store):
    store.put(key(), RECORD)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: store.consume(key()), range(64))) == 1


OWNERS = "mnop"
KEYS = st.builds(Key, st.sampled_from(KINDS), st.sampled_from(OWNERS), st.sampled_from("abcd"))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 320)),
        st.tuples(st.sampled_from(["find", "look", "remove", "list"]), KEYS),
        st.tuples(st.just("consume"), KEYS, st.sampled_from(["", "first", "second"])),
        st.tuples(st.just("wait"), st.sampled_from([1, TTL / 2, TTL, CONSUMED_SECONDS])),
    ),
    max_size=60,
)


@given(STEPS, st.sampled_from([ALL, Amount(6, 400), Amount(6, 600)]))
@example([("put", Key("tapes", "m", "a"), 0), ("put", Key("tapes", "m", "a"), 301)], ALL)
@example([("put", Key("tensors", owner, "a"), 150) for owner in OWNERS], Amount(6, 600))
def test_all_stores_behave_the_same(new_clock, every_redis, steps, total):
    """With no quota that is shared fairly, as all are above half of the total, or one, or both."""
    clock = new_clock()
    policies = {
        kind: policy._replace(total=total, shares_fairly=True) for kind, policy in POLICIES.items()
    }
    stores = [MemoryStore(policies, clock), SqliteStore(":memory:", policies, clock)]
    stores += [in_redis(url, policies, clock) for url in every_redis]
    for step in steps:
        clock.now += 0.001
        if step[0] == "wait":
            clock.now += step[1]
        else:
            told = [outcome(store, *step) for store in stores]
            assert told == told[:1] * len(stores)
    used = [store.usage("used") for store in stores]
    assert used == used[:1] * len(stores)
    for kind in KINDS:
        policy = policies[kind]
        held = [[store.list_records(kind, owner, "", 100) for owner in OWNERS] for store in stores]
        assert held == held[:1] * len(stores)
        amounts = [store.usage(kind) for store in stores]
        assert amounts == amounts[:1] * len(stores)
        assert max(map(len, held[0])) <= policy.per_owner.records
        assert sum(map(len, held[0])) <= policy.total.records
    for store in stores:
        store.close()


def outcome(store, step, key, further=None):
    """The result of a store's operation, or the detail of its error."""
    try:
        if step == "put":
            return store.put(key, of_size(further))
        if step == "consume":
            return store.consume(key, further)
        if step == "look":
            return store.find(key, body=False)
        if step == "list":
            return store.list_records(key.kind, key.owner, key.id, 2)
        return getattr(store, step)(key)
    except RequestError as refusal:
        return refusal.detail


def test_the_settings_determine_the_store_and_its_quotas(tmp_path):
    for text, kind in ("memory:", MemoryStore), (f"sqlite:{tmp_path}/t.db", SqliteStore):
        settings = Settings(
            store=text, tensor_ttl_seconds=5, max_programs=7, max_tapes_per_tenant=2
        )
        store = open_store(settings)
        assert type(store) is kind
        assert store.policies == policies(settings)
        store.close()
    assert store.policies["tensors"].ttl_seconds == 5
    assert store.policies["programs"].total.records == 7
    assert store.policies["tapes"].per_owner.records == 2
    assert [kind for kind, policy in store.policies.items() if policy.evicts] == [
        "used",
        "tensors",
    ]
    with pytest.raises(ValueError, match="store"):
        Settings(store="elsewhere")


def test_an_exchange_deletes_then_stores_what_there_is_room_for(store, clock):
    store.put(key("a"), of_size(300))
    added = [
        Upload(key(id), "", memoryview(bytes(size)))
        for id, size in (("b", 300), ("c", 300), ("d", 10))
    ]
    room = POLICIES["tapes"].per_owner
    expiries = store.exchange([key("a"), key("none")], added).expiries
    assert ids(store, "tapes") == [
        each.key.id for each, at in zip(added, expiries, strict=True) if at
    ]
    assert expiries[0] == clock.now + TTL
    assert store.find(key("b")).body == bytes(300)
    assert store.usage("tapes", ME).within(room)
    assert None in store.exchange([], [Upload(key("e"), "", bytes(room.nbytes))]).expiries


def test_calls_that_wait_are_timed_also_where_they_fail(store):
    called = []
    time_calls(store, lambda operation, seconds: called.append((operation, seconds >= 0)))
    store.put(key(), RECORD)
    assert store.find(key()) is not None
    refused(store, key("b"), of_size(400))
    store.publish(Notice(key()))
    expected = [("put", True), ("find", True), ("put", True), ("publish", True)]
    assert called == (expected if store.waits else [])
