"""Cached references are used without the store for a while; others are loaded in a thread."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Query
from gradwire_service.engines import Engines
from gradwire_service.local_cache import FRESH_SECONDS, LocalCache
from gradwire_service.problems import RequestError
from gradwire_service.references import ReferenceResolver, WouldBlock
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Unavailable, policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.redis import RedisStore
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.wire.leaves import read_variables
from gradwire_service.wire.references import ReferenceKind

from tests.service.store.redis_server import REDIS, redis_server

TTL = 100.0


class Request(NamedTuple):
    owner: str


ME, YOU = Request("me"), Request("you")
ARRAY = np.arange(4.0)


@pytest.fixture(params=["memory", "sqlite"])
def store(request, clock, tmp_path):
    kept = policies(Settings(tensor_ttl_seconds=TTL))
    path = str(tmp_path / "kept.db")
    kept_in_memory = request.param == "memory"
    store = MemoryStore(kept, clock) if kept_in_memory else SqliteStore(path, kept, clock)
    yield store
    store.close()


@pytest.fixture
def resolver(store, clock):
    return ReferenceResolver(Engines(Engine()), store, 1 << 20, clock=clock)


def test_uncached_references_are_left_to_a_thread(resolver, clock):
    tensor, _ = resolver.tensors.put("me", ARRAY)
    program, _ = resolver.programs.put("me", "sum(x)", "f")
    for kind, reference in ("tensors", tensor.ref), ("programs", program.id), ("names", "f"):
        for _ in range(2):
            with pytest.raises(WouldBlock):
                resolver.references(ME, blocking=False).find(kind, reference)
            held = resolver.references(ME).find(kind, reference)
            assert held is resolver.references(ME, blocking=False).find(kind, reference)
            with pytest.raises(WouldBlock):
                resolver.references(YOU, blocking=False).find(kind, reference)
            clock.now += FRESH_SECONDS
    for kind, reference in ("tensors", "sha256:" + "0" * 64), ("names", "g"):
        assert resolver.references(ME).find(kind, reference) is None
        with pytest.raises(WouldBlock):
            resolver.references(ME, blocking=False).find(kind, reference)


def test_a_cached_array_is_reused(resolver, clock):
    tensor, _ = resolver.tensors.put("me", ARRAY)
    first = resolver.references(ME).find("tensors", tensor.ref)
    clock.now += FRESH_SECONDS
    assert resolver.references(ME).find("tensors", tensor.ref) is first
    np.testing.assert_array_equal(first, ARRAY)
    assert not first.flags.writeable


def test_an_array_is_a_view_of_the_memory_stores_bytes(clock):
    store = MemoryStore(policies(Settings()), clock)
    resolver = ReferenceResolver(Engines(Engine()), store, 1 << 20, clock=clock)
    tensor, _ = resolver.tensors.put("me", ARRAY)
    held = store.find(Key("tensors", "me", tensor.ref))
    assert held is not None
    assert held.body is not None
    array = resolver.references(ME).find("tensors", tensor.ref)
    assert np.shares_memory(array, np.frombuffer(held.content))


def test_results_are_cached_without_the_memory_that_they_are_a_part_of(resolver):
    whole, body = np.arange(1000.0), bytearray(8000)
    for array, shares in (
        (whole, True),
        (whole.reshape(10, 100)[::-1], True),
        (whole[:600], True),
        (whole[:400], False),
        (np.frombuffer(body), False),
    ):
        (stored,) = resolver.results.exchange("me", [], [array])
        near = resolver.references(ME, blocking=False).find("tensors", stored.ref)
        assert np.array_equal(near, array)
        assert np.shares_memory(near, array) == (shares and array.flags.c_contiguous)
        assert not near.flags.writeable
        assert near.flags.c_contiguous


def test_using_a_cached_tensor_extends_its_expiry(resolver, clock):
    tensor, _ = resolver.tensors.put("me", ARRAY)
    resolver.references(ME).find("tensors", tensor.ref)
    for _ in range(300):
        clock.now += 0.9
        try:
            resolver.references(ME, blocking=False).find("tensors", tensor.ref)
        except WouldBlock:
            assert resolver.references(ME).find("tensors", tensor.ref) is not None
    assert resolver.tensors.find("me", tensor.ref).expires_at > clock.now + TTL - 2
    clock.now += TTL
    assert resolver.references(ME).find("tensors", tensor.ref) is None
    with pytest.raises(RequestError):
        resolver.tensors.find("me", tensor.ref)


@pytest.mark.parametrize("ttl", [0.1, 10, 1e6])
def test_expired_records_are_not_used_from_the_cache(clock, ttl):
    store = MemoryStore(policies(Settings(tensor_ttl_seconds=ttl)), clock)
    resolver = ReferenceResolver(Engines(Engine()), store, 1 << 20, clock=clock)
    tensor, _ = resolver.tensors.put("me", ARRAY)
    resolver.references(ME).find("tensors", tensor.ref)
    store.remove(Key("tensors", "me", tensor.ref))
    clock.now += min(FRESH_SECONDS, ttl / 20)
    with pytest.raises(WouldBlock):
        resolver.references(ME, blocking=False).find("tensors", tensor.ref)
    assert resolver.references(ME).find("tensors", tensor.ref) is None


def test_local_deletions_and_moves_take_effect_immediately(resolver):
    tensor, _ = resolver.tensors.put("me", ARRAY)
    first, _ = resolver.programs.put("me", "sum(x)", "f")
    second, _ = resolver.programs.put("me", "x", "g")
    references = resolver.references(ME)
    references.find("tensors", tensor.ref)
    references.find("programs", first.id)
    references.find("names", "f")
    resolver.programs.put("me", "x", "f")
    assert resolver.references(ME).find("names", "f").id == second.id
    resolver.tensors.remove("me", tensor.ref)
    resolver.programs.remove("me", "f")
    assert references.find("tensors", tensor.ref) is None
    assert references.find("programs", second.id) is None
    assert references.find("names", "f") is references.find("names", "g") is None
    assert references.find("programs", first.id).id == first.id


@pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")
def test_cached_digests_need_no_store(clock, tmp_path):
    """A digest never changes its meaning; a name may."""
    with redis_server(tmp_path) as server:
        store = RedisStore(server.url, policies(Settings()))
        resolver = ReferenceResolver(Engines(Engine()), store, 1 << 20, clock=clock)
        tensor, _ = resolver.tensors.put("me", ARRAY)
        program, _ = resolver.programs.put("me", "sum(x)", "f")
        fixed: list[tuple[ReferenceKind, str]]
        fixed = [("tensors", tensor.ref), ("programs", program.id)]
        held = [resolver.references(ME).find(*of) for of in fixed]
        resolver.references(ME).find("names", "f")
        server.stop()
        for _ in range(3):
            clock.now += FRESH_SECONDS
            assert [resolver.references(ME).find(*of) for of in fixed] == held
            assert [resolver.references(ME, blocking=False).find(*of) for of in fixed] == held
            for of in fixed:
                with pytest.raises(Unavailable):
                    resolver.references(YOU).find(*of)
            with pytest.raises(Unavailable):
                resolver.references(ME).find("names", "f")
        store.close()


class Interrupted(MemoryStore):
    """A store whose next lookup is interrupted by another action."""

    def __init__(self, *given):
        super().__init__(*given)
        self.meanwhile = []

    def find(self, key, *, body=True):
        held = super().find(key, body=body)
        while self.meanwhile:
            self.meanwhile.pop()()
        return held


def test_changes_during_a_lookup_are_not_cached(clock):
    store = Interrupted(policies(Settings()), clock)
    resolver = ReferenceResolver(Engines(Engine()), store, 1 << 20, clock=clock)
    tensor, _ = resolver.tensors.put("me", ARRAY)
    first, _ = resolver.programs.put("me", "sum(x)", "f")
    second, _ = resolver.programs.put("me", "x", "g")
    for kind, reference, change in (
        (resolver.tensors, tensor.ref, lambda: resolver.tensors.remove("me", tensor.ref)),
        (resolver.programs.names, "f", lambda: resolver.programs.names.put("me", "f", second.id)),
        (resolver.programs, first.id, lambda: resolver.programs.remove("me", first.id)),
    ):
        store.meanwhile.append(change)
        assert kind.load("me", reference) is not None, "it was there when the store was asked"
        assert kind.get_fresh("me", reference) is None
    assert resolver.references(ME).find("names", "f").id == second.id
    assert resolver.references(ME).find("programs", first.id) is None


def test_changes_by_other_processes_are_seen_after_a_second(tmp_path, clock):
    stores = [SqliteStore(str(tmp_path / "kept.db"), policies(Settings())) for _ in range(2)]
    one, two = (
        ReferenceResolver(Engines(Engine()), store, 1 << 20, clock=clock) for store in stores
    )
    tensor, _ = one.tensors.put("me", ARRAY)
    first, _ = one.programs.put("me", "sum(x)", "f")
    assert two.references(ME).find("tensors", tensor.ref) is not None
    assert two.references(ME).find("names", "f").id == first.id
    second, _ = one.programs.put("me", "x", "f")
    one.tensors.remove("me", tensor.ref)
    assert two.references(ME).find("names", "f").id == first.id
    clock.now += FRESH_SECONDS
    assert two.references(ME).find("names", "f").id == second.id
    assert two.references(ME).find("tensors", tensor.ref) is None
    for store in stores:
        store.close()


def test_the_least_recently_used_entries_are_evicted():
    cache = LocalCache(100)
    a, b, c = (Key("tensors", "me", id) for id in "abc")
    cache.put(a, "A", 50, 1, cache.changes)
    cache.put(b, "B", 50, 1, cache.changes)
    cache.put(a, "A", 50, 1, cache.changes)
    cache.put(c, "C", 50, 1, cache.changes)
    assert [cache.get_fresh(key) for key in (a, b, c)] == ["A", None, "C"]
    cache.put(a, "A again", 10, 1, cache.changes)
    cache.put(b, "B", 40, 1, cache.changes)
    assert [cache.get_fresh(key) for key in (a, b, c)] == ["A again", "B", "C"]
    cache.put(b, "too large", 101, 1, cache.changes)
    assert [cache.get_fresh(key) for key in (a, b, c)] == ["A again", None, "C"]


def test_specialised_code_is_not_shared_between_owners(resolver):
    """Otherwise compile times would reveal the tensors of other owners."""
    leaves = []
    for request in ME, YOU:
        tensor, _ = resolver.tensors.put(request.owner, ARRAY)
        document = {"x": {"ref": tensor.ref}}
        leaves.append(read_variables(document, resolver.references(request))["x"])
    assert leaves[0].resident != leaves[1].resident
    np.testing.assert_array_equal(leaves[0].value, leaves[1].value)


def test_a_replay_has_the_same_read_only_array_each_time(resolver, clock):
    """So a backend for a device finds the copy that it keeps there."""
    engine = Engine()
    program = engine.parse("sum(x * y)")
    tensor, _ = resolver.tensors.put("me", ARRAY)
    (result,) = resolver.results.exchange("me", [], [ARRAY + 1])
    document = {"x": {"ref": tensor.ref}, "y": {"ref": result.ref}}
    found = []
    for _ in range(3):
        variables = read_variables(document, resolver.references(ME))
        found.append(engine.call(program, variables, Query("gradient")).arguments.inputs)
        clock.now += 2 * FRESH_SECONDS
    for inputs in found:
        assert all(one is other for one, other in zip(inputs, found[0], strict=True))
    assert not any(array.flags.writeable for array in found[0])


def test_concurrent_threads_find_the_right_tensors(resolver):
    tensors = [resolver.tensors.put("me", ARRAY + i)[0] for i in range(20)]

    def use(number):
        tensor = tensors[number % 20]
        found = resolver.references(ME).find("tensors", tensor.ref)
        if number % 7 == 0:
            resolver.tensors.delete("me", tensor.ref)
            resolver.tensors.put("me", ARRAY + number % 20)
        return found is None or found[0] == number % 20

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(400)))
