import gradwire
import numpy as np
from gradwire.display.elements import Elements
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, min_side=0)))
def test_each_element_is_at_its_index(array):
    elements = Elements.of(None, array)
    indices = elements.indices()
    assert len(indices) == elements.count == array.size
    np.testing.assert_array_equal(elements.values(array), [array[index] for index in indices])
    np.testing.assert_array_equal(array.ravel()[elements.flat()], elements.values(array))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=9), st.data())
def test_sparse_arrays_list_the_stored_elements(places, data):
    axes = data.draw(st.integers(1, 2))
    shape = (4, 2)
    of = hnp.arrays(np.float64, (len(places), *shape[axes:]), elements=st.integers(-3, 3))
    indices = np.array(places, np.int64).reshape(-1, 2)[:, :axes]
    sparse = gradwire.SparseArray(indices, data.draw(of), shape)
    whole = sparse.toarray()
    elements = Elements.of(sparse)
    np.testing.assert_array_equal(elements.values(sparse), [whole[i] for i in elements.indices()])
    np.testing.assert_array_equal(elements.values(whole), elements.values(sparse))
    np.testing.assert_array_equal(Elements.of(whole).values(sparse), whole.ravel())
    assert len(set(elements.indices())) == elements.count


def test_ragged_rows_have_their_elements():
    ragged = gradwire.RaggedArray(np.arange(6.0).reshape(3, 2), np.array([0, 2, 2, 3]))
    elements = Elements.of(ragged)
    rows = list(ragged)
    assert elements.indices() == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (2, 0, 0), (2, 0, 1)]
    told = [rows[i][j, k] for i, j, k in elements.indices()]
    np.testing.assert_array_equal(elements.values(ragged), told)


def test_elements_of_another_shape_are_nan():
    elements = Elements.of(np.ones(3))
    assert np.isnan(elements.values(np.ones(2))).all()
    assert np.isnan(elements.values(None)).all()
    assert elements.values(np.float64(2)).tolist() == [2, 2, 2]
