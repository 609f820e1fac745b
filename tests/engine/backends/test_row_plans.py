"""Rows that are added at indices, with the sums of NumPy."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.reference.indexing import add_rows, row_numbers
from gradwire_engine.errors import BadArgument
from gradwire_engine.explain import explain
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

DTYPES = st.sampled_from(["float64", "float32", "complex128", "complex64"])
SEEDS = st.integers(0, 2**32 - 1)


def drawn(rng, shape, dtype):
    """Numbers of which sums depend on their order, some of them not finite."""
    x = (rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape)).astype(dtype)
    x.flat[rng.integers(0, x.size, 3)] = [np.inf, -np.inf, np.nan]
    return x


@given(DTYPES, st.integers(2, 60), st.sampled_from([(2,), (7,), (3, 2)]), SEEDS)
def test_rows_are_added_in_their_order(dtype, count, rest, seed):
    rng = np.random.default_rng(seed)
    index = rng.integers(-count, count, (50, 20))
    x, expected = drawn(rng, (*index.shape, *rest), dtype), np.zeros((count, *rest), dtype)
    with np.errstate(invalid="ignore"):
        np.add.at(expected, index, x)
    with np.errstate(invalid="ignore"):
        added = add_rows(expected.shape, index, x)
    assert added.dtype == expected.dtype
    assert_array_equal(added, expected)


MESSAGES = "z = segment_sum(tanh(h)[a], b, len(h))\nsum(z**2)"


def residents(a, b, kind="gradient", times=4, **asked):
    """The last answer and call of several that give the same edges by reference."""
    rng = np.random.default_rng(2)
    engine = Engine()
    program = engine.parse(MESSAGES)
    for _ in range(times):
        values = {
            "h": Leaf(rng.normal(size=(60, 8))),
            "a": Leaf(np.asarray(a), resident="a"),
            "b": Leaf(np.asarray(b), resident="b"),
        }
        call = engine.call(program, values, Query(kind, sources=["h"], **asked))
        answer = call.replay(lambda: None)
    exact = engine.call(program, values, Query(kind, sources=["h"], exact=True))
    return answer, exact.replay(lambda: None), call


def test_residents_select_what_others_do():
    rng = np.random.default_rng(1)
    answer, exact, _ = residents(rng.integers(-60, 60, 900), rng.integers(0, 60, 900))
    assert_allclose(answer.value, exact.value, rtol=1e-12)
    assert_allclose(answer.gradients[0], exact.gradients[0], rtol=1e-11, atol=1e-11)


def test_exact_answers_are_the_same_bits():
    rng = np.random.default_rng(1)
    edges = rng.integers(0, 60, 900), rng.integers(0, 60, 900)
    answer, exact, _ = residents(*edges, exact=True)
    assert_array_equal(answer.gradients[0], exact.gradients[0])


@pytest.mark.parametrize("wrong", [60, -61])
def test_residents_out_of_range_are_refused(wrong):
    rng = np.random.default_rng(1)
    fine = rng.integers(0, 60, 900)
    edges = fine.copy()
    edges[3] = wrong
    for given_edges in ((edges, fine), (fine, edges)):
        with pytest.raises(BadArgument, match="out of range"):
            residents(*given_edges, times=1)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_numbers_of_rows(dtype):
    index = np.array([[0, 4], [2, 1]], dtype)
    assert_array_equal(row_numbers(index, 5), [0, 4, 2, 1])
    assert row_numbers(np.array([], dtype), 5).size == 0
    with pytest.raises(IndexError):
        row_numbers(index, 4)


def test_rows_from_the_end():
    assert_array_equal(row_numbers(np.array([-1, -4, 0], "int8"), 4), [3, 0, 0])
    assert_array_equal(row_numbers(np.array([-1], "int8"), 300), [299])
    with pytest.raises(IndexError):
        row_numbers(np.array([-5]), 4)


def test_passes_of_loops_select_rows():
    text = """
z = x
for k in range(200):
    z = sin(z[i]) + x
sum(z)
"""
    values = {
        "x": Leaf(np.linspace(0, 1, 60).reshape(20, 3)),
        "i": Leaf(np.arange(20)[::-1].copy()),
    }
    engine = Engine()
    program, query = engine.parse(text), Query("gradient", sources=["x"])
    exact = engine.call(program, values, query._replace(exact=True)).replay(lambda: None)
    found = engine.call(program, values, query).replay(lambda: None)
    assert_allclose(found.gradients[0], exact.gradients[0], rtol=1e-12)
    ticks = iter(range(10**6))
    told = explain(program, values, query, clock=lambda: float(next(ticks)))  # runs its passes
    assert told.times is not None
    assert any("selected_rows" in line.text for lines in told.inner.values() for line in lines)
