"""The cache of queries: it keeps what was used last, by keys that are equal for equal queries."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from typing import Any

import pytest
from gradwire_engine import Query
from gradwire_engine.queries.cache import Cache, Entry
from gradwire_engine.shared_budget import SharedBudget
from hypothesis import given
from hypothesis import strategies as st

#: How many entries there is room for, each of this size.
ROOM, EACH = 3, 10_000


def used(cache: Cache, key: Any) -> Entry:
    return cache.find(key) or cache.make(key, EACH - 2048)


@given(st.lists(st.integers(0, 5), max_size=40))
def test_what_was_used_longest_ago_is_dropped(keys):
    cache, expected = Cache(SharedBudget(ROOM * EACH)), OrderedDict[int, Entry]()
    for key in keys:
        entry = used(cache, key)
        assert expected.setdefault(key, entry) is entry
        expected.move_to_end(key)
        if len(expected) > ROOM:
            expected.popitem(last=False)
        assert len(cache) == len(expected)
        assert cache.taken == len(expected) * EACH


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=30))
def test_caches_that_share_a_budget_count_what_they_drop(asked):
    budget = SharedBudget(ROOM * EACH)
    caches = [Cache(budget), Cache(budget)]
    for number, key in asked:
        entry = used(caches[number], key)
        assert caches[number].find(key) in (entry, None)
        assert budget.taken == sum(cache.taken for cache in caches) <= ROOM * EACH


def test_what_has_no_room_at_all_is_not_kept():
    cache = Cache(SharedBudget(EACH // 2))
    entry = used(cache, "a")
    assert cache.find("a") is None
    cache.count(entry)
    assert cache.taken == 0


NAMES = st.none() | st.recursive(
    st.sampled_from(["a", "b", "a.b", "", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xy"), inner),
    max_leaves=4,
)
QUERIES = st.builds(
    Query,
    st.sampled_from(["gradient", "evaluate"]),
    outputs=NAMES,
    target=NAMES,
    sources=NAMES,
    batch=st.none() | st.dictionaries(st.sampled_from("ab"), st.integers(-1, 1), max_size=2),
    unconnected=st.sampled_from(["none", "zero"]),
    exact=st.booleans(),
    step=st.none() | st.sampled_from([0.5, 1.0]),
    rtol=st.none(),
    atol=st.none(),
)


@given(QUERIES, QUERIES)
def test_queries_have_one_key_if_they_ask_the_same(one, other):
    assert (one.key == other.key) == (repr(one) == repr(other))
    assert one.key == deepcopy(one).key  # of other objects
    assert isinstance(hash(one.key), int)


@pytest.mark.parametrize("names", [{"a": 1}, [["a"], "a"], ["a", ["a"]], {"a": None}, [None]])
def test_nesting_is_in_the_key(names):
    keys = {Query("gradient", sources=x).key for x in (names, "a", ["a"], {"a": "a"}, None)}
    assert len(keys) == 5
