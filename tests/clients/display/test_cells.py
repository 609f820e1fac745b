import math
from itertools import product

import gradwire
import numpy as np
import pytest
from gradwire.display.cells import as_matrix, cells
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

MOST = st.tuples(st.integers(1, 4), st.integers(1, 5))


def blocks(shape, counts):
    """The place of each cell, and the slices of its block."""
    rows, columns = (
        [slice(i * n // count, (i + 1) * n // count) for i in range(count)]
        for n, count in zip(shape, counts, strict=True)
    )
    for (i, row), (j, column) in product(enumerate(rows), enumerate(columns)):
        yield (i, j), (row, column)


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, max_side=9)), MOST)
def test_a_cell_shows_the_largest_value_of_its_block(array, most):
    shown = cells(array, most)
    assert shown is not None
    matrix = array.reshape(as_matrix(array.shape))
    assert shown.shape == matrix.shape
    assert shown.values.shape == tuple(np.minimum(matrix.shape, most))
    for place, block in blocks(matrix.shape, shown.values.shape):
        finite = matrix[block][np.isfinite(matrix[block])]
        assert abs(shown.values[place]) == np.abs(finite).max(initial=0.0)
        assert shown.values[place] in [*finite, 0.0]
        assert shown.odd[place] == (finite.size < matrix[block].size)


@given(hnp.arrays(np.complex128, (5, 7), elements=st.complex_numbers(max_magnitude=9)), MOST)
def test_complex_cells_show_the_magnitude(array, most):
    shown = cells(array, most)
    assert shown is not None
    for place, block in blocks(array.shape, shown.values.shape):
        assert abs(shown.values[place]) == pytest.approx(np.abs(array[block]).max())
    whole = cells(array, (5, 7))
    assert whole is not None
    np.testing.assert_allclose(whole.values, array, rtol=1e-12, atol=1e-300)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 2)), min_size=1),
    MOST,
    st.data(),
)
def test_sparse_arrays_have_the_cells_of_the_dense_array(places, most, data):
    axes = data.draw(st.integers(1, 3))
    shape = (4, 2, 3)
    of = hnp.arrays(np.float64, (len(places), *shape[axes:]), elements=st.integers(-3, 3))
    indices = np.array(places, np.int64)[:, :axes]
    sparse = gradwire.SparseArray(indices, data.draw(of), shape)
    rows = data.draw(st.integers(0, 3))
    shown, whole = cells(sparse, (24, 24), rows), cells(sparse.toarray(), (24, 24), rows)
    assert shown is not None
    assert whole is not None
    np.testing.assert_array_equal(shown.values, whole.values)
    coarse = cells(sparse, most, rows)
    assert coarse is not None
    assert np.abs(coarse.values).max() == np.abs(whole.values).max()


def test_ragged_rows_are_left_aligned():
    shown = cells(gradwire.RaggedArray.of([[1.0, -2.0], [], [np.nan]]), (9, 9))
    assert shown is not None
    np.testing.assert_array_equal(shown.values, [[1, -2], [0, 0], [0, 0]])
    np.testing.assert_array_equal(shown.odd, [[False, False], [False, False], [True, False]])


def test_arrays_without_numbers_have_no_cells():
    assert cells(np.zeros((3, 0)), (9, 9)) is None
    assert cells(gradwire.RaggedArray.of([[], []]), (9, 9)) is None
    assert cells(np.array(["a"]), (9, 9)) is None


@given(hnp.array_shapes(min_dims=0, max_dims=4), st.data())
def test_axes_are_rows_or_columns(shape, data):
    split = data.draw(st.integers(0, len(shape)))
    assert as_matrix(shape, split) == (math.prod(shape[:split]), math.prod(shape[split:]))
    assert math.prod(as_matrix(shape)) == math.prod(shape)


def test_the_phase_is_right_even_if_the_sum_overflows():
    shown = cells(np.full((4, 4), 1.5e308 + 1e308j), (1, 1))
    assert shown is not None
    assert np.angle(shown.values[0, 0]) == pytest.approx(math.atan2(1, 1.5))
