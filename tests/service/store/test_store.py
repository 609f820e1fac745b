"""Every store keeps what the seam promises."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from gradwire_service.problems import Refusal
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Record, open_store, policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.records import CONSUMED_SECONDS, Amount, Listed, Policy
from gradwire_service.store.sqlite import SqliteStore
from hypothesis import example, given
from hypothesis import strategies as st

from tests.service.store.given import (
    ALL,
    KINDS,
    ME,
    OWNED,
    POLICIES,
    RECORD,
    TTL,
    YOU,
    ids,
    in_redis,
    kept,
    key,
    of_size,
)
from tests.service.store.redis_server import REDIS


@pytest.fixture(params=["memory", "sqlite", "redis"])
def store(request, clock, tmp_path):
    if request.param == "redis":
        store = in_redis(request.getfixturevalue("redis_url"), POLICIES, clock)
    elif request.param == "sqlite":
        store = SqliteStore(str(tmp_path / "records.db"), POLICIES, clock)
    else:
        store = MemoryStore(POLICIES, clock)
    yield store
    store.close()


def refused(store, key, record=RECORD):
    with pytest.raises(Refusal) as refusal:
        store.put(key, record)
    assert refusal.value.code == "over_budget"
    return refusal.value.detail


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_put_is_found(store, clock, kind):
    assert RECORD.nbytes == 100
    expires_at = store.put(key(kind=kind), RECORD)
    assert expires_at == (clock.now + TTL if kind in ("tapes", "tensors") else math.inf)
    assert store.find(key(kind=kind)) == (*RECORD, expires_at, None)
    assert store.find(key(kind=kind), body=False) == (RECORD.head, None, expires_at, None)
    others = {*KINDS} - {kind}
    assert all(store.find(key(kind=other)) is None for other in others)


def test_what_is_put_again_is_replaced(store):
    for record in RECORD, of_size(300), of_size(0):
        store.put(key(), record)
        assert kept(store, key()) == record
    store.put(key("b"), of_size(300))


@pytest.mark.parametrize("body", [True, False])
def test_each_use_moves_the_end_on(store, clock, body):
    store.put(key(), RECORD)
    for _ in range(5):
        clock.now += TTL - 1
        assert store.find(key(), body=body).expires_at == clock.now + TTL
    clock.now += TTL
    assert store.find(key()) is None
    assert ids(store, "tapes") == []
    assert not store.consume(key())
    assert not store.remove(key())


def test_what_has_no_end_stays(store, clock):
    store.put(key(kind="programs"), RECORD)
    clock.now += 1e9
    assert kept(store, key(kind="programs")) == RECORD


def test_a_record_is_used_up_once(store, clock):
    store.put(key(), RECORD)
    assert store.consume(key())
    assert not store.consume(key())
    assert store.find(key()) == ("", b"", clock.now + CONSUMED_SECONDS, "")
    assert ids(store, "tapes") == []
    clock.now += CONSUMED_SECONDS
    assert store.find(key()) is None


def test_who_used_a_record_up_may_do_so_again(store, clock):
    store.put(key(), RECORD)
    end = clock.now + CONSUMED_SECONDS
    assert store.consume(key(), "first")
    assert store.amounts("tapes") == (0, 0)
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


def test_what_nobody_used_by_a_name_nobody_uses_again(store):
    store.put(key(), RECORD)
    assert store.consume(key())
    assert not store.consume(key(), "late")
    assert not store.consume(key(), " ")
    assert store.find(key()) == ("", b"", store.find(key()).expires_at, "")


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


def test_what_is_removed_is_unknown(store):
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
    first = store.listed("programs", ME, "", 2)
    assert first == [Listed(id, f"head of {id}", math.inf) for id in "ab"]
    assert [record.id for record in store.listed("programs", ME, "b", 2)] == ["c"]
    assert store.listed("programs", ME, "c", 2) == []
    assert store.listed("programs", ME, "", 0) == []


def test_records_are_counted_until_they_end(store, clock):
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


def test_bytes_are_counted_until_they_end(store):
    store.put(key("a"), of_size(300))
    refused(store, key("b"), of_size(1))
    store.remove(key("a"))
    refused(store, key("b"), of_size(301))
    store.put(key("b"), of_size(300))


def test_all_that_is_held_is_told(store, clock):
    assert store.amounts("tapes") == (0, 0)
    store.put(key("a"), of_size(10))
    store.put(key("a", YOU), of_size(20))
    store.put(key(kind="tensors"), of_size(40))
    assert store.amounts("tapes") == (2, 30)
    of_each = [store.amounts("tapes", owner) for owner in (ME, YOU, "nobody")]
    assert of_each == [(1, 10), (1, 20), (0, 0)]
    assert store.consume(key("a"))
    assert store.amounts("tapes") == (1, 20)
    clock.now += TTL
    assert store.amounts("tapes") == store.amounts("tensors") == (0, 0)


def test_what_one_owner_has_is_unknown_to_others(store):
    store.put(key(), RECORD)
    foreign = key(owner=YOU)
    assert store.find(foreign) is None
    assert ids(store, "tapes", YOU) == []
    assert not store.consume(foreign)
    assert not store.remove(foreign)
    assert store.consume(key())
    assert store.find(foreign) is None


def test_owners_have_quotas_of_their_own_within_that_of_all(store):
    for id in "abc":
        store.put(key(id), of_size(1))
    for id in "ab":
        store.put(key(id, YOU), of_size(1))
    assert "all tapes would be 6" in refused(store, key("c", YOU))
    assert "the tapes of your key would be 4" in refused(store, key("d"))
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


def test_what_was_used_up_may_be_put_again(store):
    store.put(key(), RECORD)
    store.consume(key())
    store.put(key(), RECORD)
    assert kept(store, key()) == RECORD


@pytest.mark.parametrize("kind_of_store", [MemoryStore, partial(SqliteStore, ":memory:")])
def test_room_among_many_owners_is_made_in_one_pass(kind_of_store, clock):
    """To drop 75 records of 10,000 owners takes little more than to drop one."""
    most = Amount(10_000, 10_000 * 100)
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
        store._connection.set_progress_handler(lambda: steps.append(1), 1000)
    before = sys.getprofile()
    sys.setprofile(lambda _, event, __: calls.append(event))
    try:
        store.put(key, record)
    finally:
        sys.setprofile(before)
    return len(calls), len(steps)


def test_one_of_many_threads_uses_a_record_up(store):
    store.put(key(), RECORD)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: store.consume(key()), range(64))) == 1


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


@pytest.fixture(scope="session")
def every_redis(request):
    """The Redis that there is to compare with, if there is one."""
    return [request.getfixturevalue("redis_url")] if REDIS else []


OWNERS = "mnop"
KEYS = st.builds(Key, st.sampled_from(KINDS), st.sampled_from(OWNERS), st.sampled_from("abcd"))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 320)),
        st.tuples(st.sampled_from(["find", "look", "remove", "listed"]), KEYS),
        st.tuples(st.just("consume"), KEYS, st.sampled_from(["", "first", "second"])),
        st.tuples(st.just("wait"), st.sampled_from([1, TTL / 2, TTL, CONSUMED_SECONDS])),
    ),
    max_size=60,
)


@given(STEPS)
@example([("put", Key("tapes", "m", "a"), 0), ("put", Key("tapes", "m", "a"), 301)])
def test_all_stores_do_the_same(new_clock, every_redis, steps):
    clock = new_clock()
    stores = [MemoryStore(POLICIES, clock), SqliteStore(":memory:", POLICIES, clock)]
    stores += [in_redis(url, POLICIES, clock) for url in every_redis]
    for step in steps:
        clock.now += 0.001
        if step[0] == "wait":
            clock.now += step[1]
        else:
            told = [outcome(store, *step) for store in stores]
            assert told == told[:1] * len(stores)
    used = [store.amounts("used") for store in stores]
    assert used == used[:1] * len(stores)
    for kind in KINDS:
        policy = POLICIES[kind]
        held = [[store.listed(kind, owner, "", 100) for owner in OWNERS] for store in stores]
        assert held == held[:1] * len(stores)
        amounts = [store.amounts(kind) for store in stores]
        assert amounts == amounts[:1] * len(stores)
        assert max(map(len, held[0])) <= policy.owned.records
        assert sum(map(len, held[0])) <= policy.all.records
    for store in stores:
        store.close()


def outcome(store, step, key, further=None):
    """What a store does, or how it refuses."""
    try:
        if step == "put":
            return store.put(key, of_size(further))
        if step == "consume":
            return store.consume(key, further)
        if step == "look":
            return store.find(key, body=False)
        if step == "listed":
            return store.listed(key.kind, key.owner, key.id, 2)
        return getattr(store, step)(key)
    except Refusal as refusal:
        return refusal.detail


def test_the_settings_name_the_store_and_what_it_keeps(tmp_path):
    for text, kind in ("memory:", MemoryStore), (f"sqlite:{tmp_path}/t.db", SqliteStore):
        settings = Settings(store=text, tensor_ttl_seconds=5, max_programs=7, max_tapes_per_key=2)
        store = open_store(settings)
        assert type(store) is kind
        assert store.policies == policies(settings)
        store.close()
    assert store.policies["tensors"].ttl_seconds == 5
    assert store.policies["programs"].all.records == 7
    assert store.policies["tapes"].owned.records == 2
    assert [kind for kind, policy in store.policies.items() if policy.yields] == [
        "used",
        "tensors",
    ]
    with pytest.raises(ValueError, match="store"):
        Settings(store="elsewhere")
