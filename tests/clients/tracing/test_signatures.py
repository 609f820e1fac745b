from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gradwire.tracing.signatures import signature
from gradwire.tracing.structures import flatten
from hypothesis import given
from hypothesis import strategies as st


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Both:
    a: Any
    b: Any


LEAVES = st.one_of(
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.sampled_from(
        [np.ones(2), np.ones((2, 1)), np.ones(2, np.float32), np.float64(1.0), np.array(1.0)]
    ),
)
STATICS = st.one_of(st.integers(-2, 2), st.booleans(), st.none(), st.sampled_from(["a", "b", len]))
NESTED = st.recursive(
    LEAVES | STATICS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.lists(parts, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("ab"), parts, max_size=2),
        st.builds(Pair, parts, parts),
        st.builds(Both, parts, parts),
    ),
    max_leaves=6,
)


def kinds(leaves):
    return [
        type(leaf)
        if type(leaf) in (float, complex)
        else (leaf.dtype, leaf.shape, isinstance(leaf, np.generic))
        for leaf in leaves
    ]


@given(NESTED, NESTED)
def test_signatures_are_equal_for_equal_structures_and_leaf_types(one, other):
    same = []
    for value in (one, other):
        leaves, structure = flatten(((value,), {}))
        found, _ = signature((value,), {})
        assert all(a is b for a, b in zip(leaves, found, strict=True))
        same.append((structure, kinds(leaves)))
    first, second = signature((one,), {})[1], signature((other,), {})[1]
    assert (first == second) == (same[0] == same[1])
    assert first != second or hash(first) == hash(second)


def test_integers_are_treated_as_floats_on_request():
    leaves, numbers = signature(([1, 2.0], 1), {}, (0,))
    assert leaves == [1.0, 2.0]
    assert numbers == signature(([5, 2], 1), {}, (0,))[1]
    assert numbers != signature(([1, 2.0], 3), {}, (0,))[1]
    assert signature((True,), {}, (0,))[0] == []


def test_unhashable_values_equal_only_themselves():
    one, other = {1}, {1}
    assert signature((one,), {}) == signature((one,), {})
    assert signature((one,), {}) != signature((other,), {})
