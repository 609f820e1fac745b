import math
import re

import gradwire
import numpy as np
import pytest
from gradwire.display.figures import brief, coalesced, cut, digits, extent, norm
from gradwire.values import type_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FINITE = hnp.arrays(
    np.float64, hnp.array_shapes(max_dims=3), elements=st.floats(-1e100, 1e100, width=64)
)


@given(FINITE)
def test_the_extent_is_that_of_the_elements(array):
    least, most, mean = array.min(), array.max(), array.mean()
    if least == most:
        same = "all " if array.size > 1 else ""
        assert extent(array) == f"{same}{digits(least, 3)}"
        return
    said = re.fullmatch(r"(\S+) … (\S+), mean (\S+)", extent(array))
    assert said is not None
    largest = max(abs(least), abs(most))
    near = {"rel": 0.006, "abs": 1e-9 * largest}
    assert [float(each) for each in said.groups()] == [
        pytest.approx(each, **near) for each in (least, most, mean)
    ]
    assert norm(array) == pytest.approx(math.hypot(*array.ravel()), rel=1e-9)


@given(hnp.arrays(np.float64, 20))
def test_nonfinite_elements_are_counted_and_left_out(array):
    finite = array[np.isfinite(array)]
    broken = f"{array.size - finite.size} not finite"
    parts = [extent(finite).removeprefix("all ")] if finite.size else []
    parts += [broken] if finite.size < array.size else []
    assert extent(array).removeprefix("all ") == ", ".join(parts)


def test_squares_and_sums_do_not_overflow():
    assert extent(np.array([1e307, 1.5e308] * 9)) == "1e307 … 1.5e308, mean 8e307"
    assert norm(np.full(4, 1e200)) == pytest.approx(2e200)
    assert norm(np.full(4, 60000, np.float16)) == pytest.approx(120000, rel=1e-3)
    assert norm(np.full(4, 1e-200)) == pytest.approx(2e-200)
    assert norm(np.full(4, 1.7e308 + 1.7e308j)) == np.finfo(np.float64).max


def test_complex_numbers_are_summarised_by_magnitude():
    assert extent(np.array([3 + 4j, -1j])) == "|·| 1 … 5, mean 3"
    assert norm(np.array([3 + 4j, -1j])) == pytest.approx(math.sqrt(26))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=12),
    st.data(),
)
def test_a_sparse_array_is_summarised_like_the_dense_one(places, data):
    indices = np.array(places, np.int64).reshape(-1, 2)
    values = data.draw(hnp.arrays(np.float64, len(places), elements=st.integers(-9, 9)))
    sparse = gradwire.SparseArray(indices, values, (4, 5))
    assert extent(sparse) == extent(sparse.toarray())
    once = coalesced(sparse)
    np.testing.assert_array_equal(once.toarray(), sparse.toarray())
    assert len(once.indices) == len(set(places))


def test_slices_are_summarised_like_the_whole():
    slices = gradwire.SparseArray(np.array([[1], [1]]), np.array([[1.0, 2], [3, 4]]), (3, 2))
    assert extent(slices) == extent(slices.toarray())


@given(st.floats(-1e300, 1e300), st.integers(3, 9))
def test_numbers_are_rounded_correctly_to_few_digits(number, precision):
    text = digits(number, precision)
    assert float(text) == pytest.approx(number, rel=0.51 * 10.0 ** (1 - precision), abs=0)
    assert len(text) <= precision + 7


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.28260330123, "0.2826"),
        (1.2345e-5, "1.234e-5"),
        (12345.678, "12346"),
        (123456789.0, "1.235e8"),
        (3.0, "3"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (np.int64(7), "7"),
        (10**20, "1.000e+20"),
        (np.bool_(True), "True"),
        (np.complex64(1 - 2j), "1-2j"),
        (np.float32(0.1), "0.1"),
    ],
)
def test_numbers_are_formatted_with_few_digits(number, text):
    assert digits(number) == text


def test_types_are_written_like_the_service_does():
    assert type_of(np.zeros((2, 3), np.float32)) == "float32[2,3]"
    assert type_of(np.float64(1)) == "float64"
    assert type_of(gradwire.RaggedArray.of([[1.0, 2.0], []])) == "float64[2 rows of 0…2]"
    sparse = gradwire.SparseArray(np.array([[1]]), np.ones((1, 2)), (3, 2))
    assert type_of(sparse) == "float64[3,2], 1 slices"


@given(st.text(st.characters(exclude_characters="…")), st.integers(1, 60))
def test_truncated_text_keeps_both_ends(words, width):
    told = cut(words, width)
    ahead, _, behind = told.partition("…")
    assert words.startswith(ahead)
    assert words.endswith(behind)
    assert len(told) == min(len(words), width)


@pytest.mark.parametrize(
    ("leaf", "words"),
    [
        (np.float64(0.25), "0.25"),
        (np.array([[1.0, -0.0], [np.nan, 1e-9]]), "[[1, 0], [nan, 1e-9]]"),
        (np.zeros((2, 0)), "[[], []]"),
        (np.zeros((9, 0)), "[[], [], [], [], [], [], [], [], []]"),
        (np.zeros((99, 0)), "empty"),
        (np.full(9, 2.0), "all 2"),
        (np.arange(10.0), "0 … 9, mean 4.5"),
        (np.array([np.inf] * 9), "9 not finite"),
        (np.array([1.0, np.nan] * 5), "1, 5 not finite"),
        (1j * np.arange(1, 9), "|·| 1 … 8, mean 4.5"),
        (np.arange(6) > 2, "[False, False, False, True, True, True]"),
        (np.full(6, 1.2345e-200), "all 1.23e-200"),  # a list of six would be too long
        (gradwire.RaggedArray.of([[1.0], [2.0, 3.0]]), "1 … 3, mean 2"),
        (gradwire.SparseArray(np.array([[1], [1]]), np.ones(2), (4,)), "0 … 2, mean 0.5"),
        ("words", "'words'"),
    ],
)
def test_leaves_are_summarised_briefly(leaf, words):
    assert brief(leaf) == words
