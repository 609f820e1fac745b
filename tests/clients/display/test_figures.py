import math

import gradwire
import numpy as np
import pytest
from gradwire.display.figures import Summary, coalesced, digits, summary
from gradwire.values import type_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FINITE = hnp.arrays(
    np.float64, hnp.array_shapes(max_dims=3), elements=st.floats(-1e100, 1e100, width=64)
)


def summed_up(leaf) -> Summary:
    told = summary(leaf)
    assert told is not None
    return told


@given(FINITE)
def test_arrays_are_summarised(array):
    told = summed_up(array)
    assert (told.size, told.nonfinite) == (array.size, 0)
    assert (told.min, told.max) == (array.min(), array.max())
    largest = np.abs(array).max()
    assert told.mean == pytest.approx(array.mean(), rel=1e-9, abs=1e-12 * largest)
    assert told.norm == pytest.approx(math.hypot(*array.ravel()), rel=1e-9)


@given(hnp.arrays(np.float64, 20))
def test_nonfinite_elements_are_counted_and_left_out(array):
    told, finite = summed_up(array), array[np.isfinite(array)]
    assert told.nonfinite == array.size - finite.size
    if finite.size:
        assert (told.min, told.max) == (finite.min(), finite.max())
    else:
        assert told.min is told.mean is told.max is None


def test_squares_and_sums_do_not_overflow():
    assert summed_up(np.full(4, 1e307)).mean == pytest.approx(1e307)
    assert summed_up(np.full(4, 1e200)).norm == pytest.approx(2e200)
    assert summed_up(np.full(4, 60000, np.float16)).norm == pytest.approx(120000, rel=1e-3)
    assert summed_up(np.full(4, 1e-200)).norm == pytest.approx(2e-200)


def test_complex_numbers_are_summarised_by_magnitude():
    told = summed_up(np.array([3 + 4j, -1j]))
    assert (told.min, told.max, told.is_complex) == (1.0, 5.0, True)
    assert told.norm == pytest.approx(math.sqrt(26))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=12),
    st.data(),
)
def test_a_sparse_array_is_summarised_like_the_dense_one(places, data):
    indices = np.array(places, np.int64).reshape(-1, 2)
    values = data.draw(hnp.arrays(np.float64, len(places), elements=st.integers(-9, 9)))
    sparse = gradwire.SparseArray(indices, values, (4, 5))
    told, whole = summed_up(sparse), summed_up(sparse.toarray())
    assert (told.size, told.min, told.max) == (whole.size, whole.min, whole.max)
    assert told.mean == pytest.approx(whole.mean)
    assert told.norm == pytest.approx(whole.norm)
    once = coalesced(sparse)
    np.testing.assert_array_equal(once.toarray(), sparse.toarray())
    assert len(once.indices) == len(set(places))


def test_slices_are_summarised_like_the_whole():
    slices = gradwire.SparseArray(np.array([[1], [1]]), np.array([[1.0, 2], [3, 4]]), (3, 2))
    assert summed_up(slices) == summed_up(slices.toarray())


def test_empty_arrays_and_text_have_no_statistics():
    told = summed_up(np.zeros((0, 3)))
    assert (told.size, told.min, told.norm) == (0, None, 0.0)
    assert summary("text") is None


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
