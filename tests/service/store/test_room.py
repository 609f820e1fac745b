"""Who makes room for what is put, and what is refused."""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.records import Amount, Policy
from gradwire_service.store.sqlite import SqliteStore

from tests.service.store.given import (
    ALL,
    OWNED,
    RECORD,
    YOU,
    ids,
    kept,
    key,
    of_size,
    refused,
)


def test_owners_have_quotas_of_their_own_within_that_of_all(store):
    for id in "abc":
        store.put(key(id), of_size(1))
    for id in "ab":
        store.put(key(id, YOU), of_size(1))
    assert "all tapes would be 6" in refused(store, key("c", YOU))
    assert "your tapes would be 4" in refused(store, key("d"))
    store.remove(key("a"))
    store.put(key("c", YOU), of_size(1))


def test_what_was_used_longest_ago_makes_room(store, clock):
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


def test_who_has_the_largest_share_makes_room(store, clock):
    for id, nbytes in ("a", 100), ("b", 100), ("c", 100):
        clock.now += 1
        store.put(key(id, kind="tensors"), of_size(nbytes))
    store.put(key("d", YOU, "tensors"), of_size(90))
    store.put(key("e", YOU, "tensors"), of_size(60))
    assert ids(store, "tensors") == ["b", "c"]
    assert ids(store, "tensors", YOU) == ["d", "e"]
    store.put(key("f", YOU, "tensors"), of_size(51))
    assert ids(store, "tensors") == ["b", "c"], "you would have more than I"
    assert ids(store, "tensors", YOU) == ["e", "f"]


def test_nobody_loses_more_than_others_keep(store, clock):
    """However much one asks for, the other keeps half of everything, or all it has."""
    store.put(key("small", kind="tensors"), of_size(199))
    for number in range(20):
        clock.now += 0.1
        store.put(key(str(number), YOU, "tensors"), of_size(100))
    assert ids(store, "tensors") == ["small"]
    assert len(ids(store, "tensors", YOU)) == 2


def test_what_is_refused_drops_nothing(store, clock):
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


def test_what_is_used_up_makes_room_for_what_is_to_come(store, clock):
    for id in "abcdef":
        clock.now += 1
        store.put(key(id), of_size(100))
        assert store.consume(key(id), "first")
        assert store.consume(key(id), "first")
    held = [id for id in "abcdef" if store.find(key(id))]
    assert held == ["e", "f"], "of 300 bytes each takes 106"
    assert store.amounts("used") == (2, 2 * (100 + len("first ")))


def test_what_has_no_room_once_it_is_used_up_is_only_known_to_be(store):
    store.put(key(), of_size(300))
    assert store.consume(key(), "first")
    assert not store.consume(key(), "first")
    assert store.find(key()).used_by == ""


@pytest.mark.parametrize("kind_of_store", [MemoryStore, partial(SqliteStore, ":memory:")])
def test_room_among_many_owners_is_made_in_one_pass(kind_of_store, clock):
    """To drop 75 records of 2,000 owners takes little more than to drop one."""
    most = Amount(2000, 2000 * 100)
    store = kind_of_store({"tensors": Policy(most, most, 1e9, yields=True)}, clock)
    owners = sorted(f"owner {number}" for number in range(most.records))
    for owner in owners:
        store.put(key(owner=owner, kind="tensors"), of_size(100))
    one = calls_and_steps(store, key("b", "z", "tensors"), of_size(100))
    many = calls_and_steps(store, key("c", kind="tensors"), of_size(7500))
    assert [owner for owner in owners if not ids(store, "tensors", owner)] == owners[:76]
    assert all(after <= 1.5 * before for before, after in zip(one, many, strict=True))
    store.close()


def calls_and_steps(store, key, record):
    """How many calls Python makes to put a record, and how many thousands of steps SQLite does."""
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


def test_threads_keep_to_the_quotas(store):
    def put(number):
        store.put(key(str(number), f"owner {number % 3}", "tensors"), of_size(number % 50))
        store.find(key(str(number - 1), f"owner {number % 3}", "tensors"))
        return store.remove(key(str(number - 4), f"owner {number % 3}", "tensors"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(200)))
    held = [store.listed("tensors", f"owner {n}", "", 100) for n in range(3)]
    assert all(len(records) <= OWNED.records for records in held)
    assert sum(map(len, held)) <= ALL.records
