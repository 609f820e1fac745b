"""The cache keeps within its bytes and evicts the least recently used values."""

from gradwire_service.lru import ByteBoundedLRU
from gradwire_service.store import Key
from hypothesis import given
from hypothesis import strategies as st

MOST = 100


def key_of(owner, number=0):
    return Key("tensors", owner, str(number))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(1, 120))))
def test_cached_values_never_exceed_the_limit(puts):
    for per_owner in False, True:
        cache = ByteBoundedLRU[int](MOST, per_owner=per_owner)
        last = {}
        for owner, number, nbytes in puts:
            cache.put(key_of(owner, number), nbytes, nbytes)
            last[key_of(owner, number)] = nbytes
            found = {key: cache.peek(key) for key in last}
            held = {key: nbytes for key, nbytes in found.items() if nbytes is not None}
            assert held.items() <= last.items()
            assert sum(held.values()) <= MOST


def test_the_least_recently_used_value_is_evicted():
    cache = ByteBoundedLRU[str](MOST)
    a, b, c, d = (key_of("me", number) for number in range(4))
    for key in a, b, c:
        cache.put(key, "kept", 33)
    assert cache.get(a) == "kept"
    cache.put(d, "kept", 33)
    assert [cache.peek(key) for key in (a, b, c, d)] == ["kept", None, "kept", "kept"]
    cache.discard(a)
    assert cache.get(a) is None
    cache.put(b, "too large", MOST + 1)
    assert [cache.peek(key) for key in (a, b, c, d)] == [None, None, "kept", "kept"]


def test_per_owner_an_owner_with_more_never_evicts_values_of_others():
    for per_owner in False, True:
        cache = ByteBoundedLRU[str](MOST, per_owner=per_owner)
        cache.put(key_of("modest"), "kept", 20)
        for number in range(50):
            cache.put(key_of("other", number), "kept", 10)
        assert cache.peek(key_of("modest")) == ("kept" if per_owner else None)
        assert cache.peek(key_of("other", 49)) == "kept"
