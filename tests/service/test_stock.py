"""What is at hand: within its bytes, the oldest dropped first, of whoever has most."""

from gradwire_service.stock import Stock
from gradwire_service.store import Key
from hypothesis import given
from hypothesis import strategies as st

MOST = 100


def key_of(owner, number=0):
    return Key("tensors", owner, str(number))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(1, 120))))
def test_all_that_is_kept_goes_into_the_room(keepings):
    for apart in False, True:
        stock = Stock[int](MOST, apart=apart)
        last = {}
        for owner, number, nbytes in keepings:
            stock.keep(key_of(owner, number), nbytes, nbytes)
            last[key_of(owner, number)] = nbytes
            found = {key: stock.get(key) for key in last}
            held = {key: nbytes for key, nbytes in found.items() if nbytes is not None}
            assert held.items() <= last.items()
            assert sum(held.values()) <= MOST


def test_what_was_used_longest_ago_is_dropped_first():
    stock = Stock[str](MOST)
    a, b, c, d = (key_of("me", number) for number in range(4))
    for key in a, b, c:
        stock.keep(key, "kept", 33)
    assert stock.use(a) == "kept"
    stock.keep(d, "kept", 33)
    assert [stock.get(key) for key in (a, b, c, d)] == ["kept", None, "kept", "kept"]
    stock.drop(a)
    assert stock.use(a) is None
    stock.keep(b, "too large", MOST + 1)
    assert [stock.get(key) for key in (a, b, c, d)] == [None, None, "kept", "kept"]


def test_apart_nobody_loses_anything_to_one_who_has_more():
    for apart in False, True:
        stock = Stock[str](MOST, apart=apart)
        stock.keep(key_of("modest"), "kept", 20)
        for number in range(50):
            stock.keep(key_of("other", number), "kept", 10)
        assert stock.get(key_of("modest")) == ("kept" if apart else None)
        assert stock.get(key_of("other", 49)) == "kept"
