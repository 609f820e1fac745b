"""Quotas: which records are evicted for a new one, and which are refused."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest
from gradwire_service.settings import Settings
from gradwire_service.store import policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.quotas import NOTHING, Amount, OverQuota, OverShare, Policy, Usage
from gradwire_service.store.records import Change
from gradwire_service.store.sqlite import SqliteStore
from hypothesis import given
from hypothesis import strategies as st

from tests.service.store.given import (
    ALL,
    ME,
    OWNED,
    POLICIES,
    RECORD,
    YOU,
    ids,
    in_redis,
    kept,
    key,
    of_size,
    refused,
)


def test_each_owner_has_a_quota_within_the_total(store):
    for id in "abc":
        store.put(key(id), of_size(1))
    for id in "ab":
        store.put(key(id, YOU), of_size(1))
    assert "all tapes would be 6" in refused(store, key("c", YOU))
    assert "your tapes would be 4" in refused(store, key("d"))
    store.remove(key("a"))
    store.put(key("c", YOU), of_size(1))


def test_the_least_recently_used_records_are_evicted(store, clock):
    for id in "abc":
        clock.now += 1
        store.put(key(id, kind="tensors"), of_size(1))
    clock.now += 1
    store.find(key("a", kind="tensors"), body=False)
    clock.now += 1
    store.put(key("d", kind="tensors"), of_size(1))
    assert ids(store, "tensors") == ["a", "c", "d"]
    store.put(key("e", kind="tensors"), of_size(299))
    assert ids(store, "tensors") == ["d", "e"]
    refused(store, key("f", kind="tensors"), of_size(301))
    assert len(ids(store, "tensors")) == 2


def test_only_an_owners_own_records_are_evicted(store, clock):
    for id in "abc":
        store.put(key(id, kind="tensors"), of_size(100))
    store.put(key("d", YOU, "tensors"), of_size(90))
    clock.now += 1
    store.put(key("e", YOU, "tensors"), of_size(60))
    assert ids(store, "tensors") == ["a", "b", "c"]
    assert ids(store, "tensors", YOU) == ["e"]
    detail = refused(store, key("f", YOU, "tensors"), of_size(101))
    assert detail == "all tensors would be 5 with 461 bytes; the limit is 5 with 400"
    store.put(key("f", YOU, "tensors"), of_size(40))
    assert "all tensors would be 6" in refused(store, key("g", "third", "tensors"), of_size(0))
    assert ids(store, "tensors") == ["a", "b", "c"]
    assert ids(store, "tensors", YOU) == ["e", "f"]


def test_storing_never_evicts_records_of_other_owners(store, clock):
    """For any number of owners, and any amount that they store."""
    store.put(key("small", kind="tensors"), of_size(199))
    for number in range(20):
        clock.now += 0.1
        store.put(key(str(number), YOU, "tensors"), of_size(100))
        refused(store, key(str(number), f"owner {number}", "tensors"), of_size(150))
    assert ids(store, "tensors") == ["small"]
    assert ids(store, "tensors", YOU) == ["18", "19"]


@given(st.lists(st.tuples(st.sampled_from("mnop"), st.integers(0, 9), st.integers(0, 320))))
def test_a_put_leaves_the_records_of_other_owners(puts):
    """In memory; all stores do the same."""
    store = MemoryStore(POLICIES, lambda: 1000.0)
    for owner, number, nbytes in puts:
        before = {other: ids(store, "tensors", other) for other in "mnop" if other != owner}
        with suppress(OverQuota):
            store.put(key(str(number), owner, "tensors"), of_size(nbytes))
        assert {other: ids(store, "tensors", other) for other in before} == before
        assert store.usage("tensors").within(ALL)
        assert store.usage("tensors", owner).within(OWNED)


def test_a_refused_record_evicts_nothing(store, clock):
    for kind in "tapes", "tensors":
        store.put(key("a", kind=kind), RECORD)
        clock.now += 1
        store.put(key("b", kind=kind), RECORD)
        refused(store, key("a", kind=kind), of_size(301))
        assert kept(store, key("a", kind=kind)) == RECORD
        assert ids(store, kind) == ["a", "b"]
        store.put(key("c", kind=kind), RECORD)
        refused(store, key("d", kind=kind), of_size(301))
        assert ids(store, kind) == ["a", "b", "c"]


def test_used_records_are_evicted_for_new_ones(store, clock):
    for id in "abcdef":
        clock.now += 1
        store.put(key(id), of_size(100))
        assert store.consume(key(id), "first")
        assert store.consume(key(id), "first")
    held = [id for id in "abcdef" if store.find(key(id))]
    assert held == ["e", "f"], "of 300 bytes each takes 106"
    assert store.usage("used") == (2, 2 * (100 + len("first ")))


def test_a_used_record_without_room_for_its_request_key_is_still_marked_used(store):
    store.put(key(), of_size(300))
    assert store.consume(key(), "first")
    assert not store.consume(key(), "first")
    assert store.find(key()).used_by == ""


#: What owners store, more or less of it, one after the other.
GREED = st.lists(
    st.tuples(st.sampled_from("mnop"), st.sampled_from("abc"), st.integers(0, 600)), max_size=40
)


@pytest.mark.parametrize("kind", ["tapes", "tensors"])
@given(GREED)
def test_a_further_owner_finds_room_whatever_others_store(kind, every_redis, new_clock, puts):
    clock, total, half = new_clock(), Amount(1000, 1024), Amount(500, 512)
    shared = {kind: Policy(half, total, 60, evicts=kind == "tensors", shares_fairly=True)}
    stores = [MemoryStore(shared, clock), SqliteStore(":memory:", shared, clock)]
    for store in (*stores, *(in_redis(url, shared, clock) for url in every_redis)):
        for owner, id, nbytes in puts:
            clock.now += 0.001
            before = store.usage(kind, owner).nbytes
            with suppress(OverQuota):
                store.put(key(id, owner, kind), of_size(nbytes))
            assert store.usage(kind, owner).nbytes <= max(before, free_of(store, kind, total))
        owners = len({owner for owner, *_ in puts})
        assert free_of(store, kind, total) >= total.nbytes >> owners
        store.put(key("a", "q", kind), of_size(free_of(store, kind, total) // 2))
        store.close()


def free_of(store, kind, total):
    """The bytes of a kind that nobody uses."""
    return total.nbytes - store.usage(kind).nbytes


def test_an_owner_alone_has_its_whole_quota():
    by_default = policies(Settings())
    given = policies(Settings(tenants=2))
    for kind, policy in by_default.items():
        assert policy == given[kind]._replace(shares_fairly=kind != "job_leases")
        usage = Usage(policy.per_owner, policy.per_owner)
        assert policy.evicted(kind, NOTHING, usage) == NOTHING


def test_a_quota_of_more_than_half_of_the_records_leaves_the_bytes_shared():
    """And the other way round: each dimension is shared fairly if its own quota allows it."""
    policy = policies(Settings(max_tapes=50))["tapes"]
    (most, nbytes), (total, total_bytes) = policy.per_owner, policy.total
    assert (most, total) == (50, 50)
    alone = Usage(Amount(49, 0), Amount(49, 0))
    assert policy.evicted("tapes", Amount(1, 0), alone) == NOTHING
    both = Usage(Amount(1, nbytes - 1), Amount(2, total_bytes - nbytes))
    with pytest.raises(OverShare):
        policy.evicted("tapes", Amount(1, 1), both)
    other = policy._replace(per_owner=Amount(5, total_bytes), total=Amount(10, total_bytes))
    assert other.evicted("tapes", Amount(1, total_bytes), Usage(NOTHING, NOTHING)) == NOTHING
    with pytest.raises(OverShare):
        other.evicted("tapes", Amount(1, 0), Usage(Amount(3, 0), Amount(7, 0)))


def test_a_refusal_by_the_share_says_what_the_share_is():
    policy = Policy(Amount(50, 1 << 20), Amount(100, 2 << 20), shares_fairly=True)
    usage = Usage(Amount(2, 1_000_000), Amount(3, 1_300_000))
    with pytest.raises(OverShare) as refused:
        policy.evicted("tapes", Amount(1, 40_000), usage)
    assert refused.value.detail == (
        "your tapes would have 1,040,000 bytes; while others use the store, your share is 898,576"
    )
    assert "GRADWIRE_TENANTS" in str(refused.value.hint)
    assert refused.value.excess == (0, 1_040_000 - 898_576)
    with pytest.raises(OverShare, match=r"tapes would be 31; .* your share is 30$"):
        policy.evicted("tapes", Amount(1, 0), Usage(Amount(30, 0), Amount(70, 0)))


@pytest.fixture(params=["memory", "sqlite", "redis"])
def shared(request, clock):
    """A store of each kind, shared fairly by tenants of up to half of it each."""
    policy = Policy(Amount(50, 500), Amount(100, 1000), 60, shares_fairly=True)
    if request.param == "redis":
        store = in_redis(request.getfixturevalue("redis_url"), {"tapes": policy}, clock)
    elif request.param == "sqlite":
        store = SqliteStore(":memory:", {"tapes": policy}, clock)
    else:
        store = MemoryStore({"tapes": policy}, clock)
    yield store
    store.close()


def test_what_is_admitted_goes_on_beyond_a_share_that_others_reduce(shared):
    shared.commit([Change(key(), "1", bytes(399), None)])
    for number in range(3):
        shared.put(key("a", f"owner {number}"), of_size(130))
    longer = [Change(key(), "2", bytes(20), "1", appends=True)]
    with pytest.raises(OverShare):
        shared.commit(longer)
    assert shared.commit(longer, admitted=True) is not None
    assert shared.usage("tapes", ME) == (1, 420)
    with pytest.raises(OverShare):
        shared.commit([Change(key("b"), "1", bytes(10), None)])
    with pytest.raises(OverQuota, match="your tapes would be 1 with 600 bytes; the limit is 50"):
        shared.commit([Change(key(), "3", bytes(599), "2")], admitted=True)
    assert kept(shared, key()) == ("2", bytes(419))


@pytest.mark.thorough
@pytest.mark.parametrize("kind_of_store", [MemoryStore, partial(SqliteStore, ":memory:")])
def test_many_records_are_evicted_in_one_pass(kind_of_store, clock):
    """To evict 75 of 2,000 records takes little more for each than to evict one."""
    most = Amount(2000, 2000 * 100)
    store = kind_of_store({"tensors": Policy(most, most, 1e9, evicts=True)}, clock)
    names = sorted(f"tensor {number}" for number in range(most.records))
    for name in names:
        clock.now += 0.1
        store.put(key(name, kind="tensors"), of_size(100))
    one = calls_and_steps(store, key("z", kind="tensors"), of_size(100))
    many = calls_and_steps(store, key("zz", kind="tensors"), of_size(7500))
    left = [record.id for record in store.list_records("tensors", ME, "", 3000)]
    assert left == [*names[76:], "z", "zz"]
    for before, after in zip(one, many, strict=True):
        assert after <= before + 75 * before / 2
    store.close()


def calls_and_steps(store, key, record):
    """The Python calls that putting a record makes, and the steps of SQLite in thousands."""
    calls, steps = [], []
    if isinstance(store, SqliteStore):
        store._file.connection.set_progress_handler(lambda: steps.append(1), 1000)
    before = sys.getprofile()
    sys.setprofile(lambda _, event, __: calls.append(event))
    try:
        store.put(key, record)
    finally:
        sys.setprofile(before)
    return len(calls), len(steps)


def test_quotas_hold_with_concurrent_threads(store):
    def put(number):
        with suppress(OverQuota):  # where those of others fill the whole, whoever comes first
            store.put(key(str(number), f"owner {number % 3}", "tensors"), of_size(number % 50))
        store.find(key(str(number - 1), f"owner {number % 3}", "tensors"))
        return store.remove(key(str(number - 4), f"owner {number % 3}", "tensors"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(200)))
    held = [store.list_records("tensors", f"owner {n}", "", 100) for n in range(3)]
    assert all(len(records) <= OWNED.records for records in held)
    assert sum(map(len, held)) <= ALL.records
