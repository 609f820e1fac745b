import gradwire
import numpy as np
from gradwire.display.elements import elements, elements_at
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, min_side=0)))
def test_each_element_is_at_its_index(array):
    indices, values = elements(array)
    assert len(indices) == array.size
    np.testing.assert_array_equal(values, [array[index] for index in indices])
    np.testing.assert_array_equal(elements_at(array, indices), values)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=9), st.data())
def test_sparse_arrays_list_the_stored_elements(places, data):
    axes = data.draw(st.integers(1, 2))
    shape = (4, 2)
    of = hnp.arrays(np.float64, (len(places), *shape[axes:]), elements=st.integers(-3, 3))
    indices = np.array(places, np.int64).reshape(-1, 2)[:, :axes]
    sparse = gradwire.SparseArray(indices, data.draw(of), shape)
    whole = sparse.toarray()
    found, values = elements(sparse)
    np.testing.assert_array_equal(values, [whole[index] for index in found])
    np.testing.assert_array_equal(elements_at(whole, found), values)
    np.testing.assert_array_equal(elements_at(sparse, elements(whole)[0]), whole.ravel())
    assert len(set(found)) == len(found)


def test_ragged_rows_have_their_elements():
    ragged = gradwire.RaggedArray(np.arange(6.0).reshape(3, 2), np.array([0, 2, 2, 3]))
    indices, values = elements(ragged)
    rows = list(ragged)
    assert indices == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (2, 0, 0), (2, 0, 1)]
    np.testing.assert_array_equal(values, [rows[i][j, k] for i, j, k in indices])
    whole = elements_at(ragged, list(np.ndindex(3, 2, 2)))
    np.testing.assert_array_equal(whole[:6], [0, 1, 2, 3, np.nan, np.nan])


def test_a_dense_leaf_is_repeated_along_axes_that_it_lacks():
    indices = list(np.ndindex(2, 3))
    assert elements_at(np.float64(2), indices).tolist() == [2] * 6
    assert elements_at(np.arange(3), indices).tolist() == [0, 1, 2] * 2
    for leaf in (None, np.ones(2), np.ones((4, 2, 3))):
        assert np.isnan(elements_at(leaf, indices)).all()
