from typing import NamedTuple

import numpy as np
from gradwire.adapters.raveling import Raveled
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


class Pair(NamedTuple):
    a: object
    b: object


ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32]),
    hnp.array_shapes(min_dims=0, max_dims=3, max_side=3),
    elements=st.just(1.5),
)
PARAMETERS = st.recursive(
    ARRAYS | st.floats(-9, 9) | st.integers(-9, 9),
    lambda inner: st.one_of(
        st.dictionaries(st.text(min_size=1), inner, min_size=1),
        st.tuples(inner, inner).map(lambda pair: Pair(*pair)),
        st.tuples(inner, st.just(np.ones(1))),
    ),
    max_leaves=6,
)


@given(PARAMETERS)
def test_raveled_values_can_be_nested_again(parameters):
    raveled = Raveled(parameters)
    again = raveled.nested(raveled.vector)
    np.testing.assert_equal(again, parameters)
    assert type(again) is type(parameters) or np.ndim(parameters) == 0
    assert raveled.vector.ndim == 1


def test_float_dtypes_are_kept():
    raveled = Raveled({"w": np.ones(2, np.float32), "n": np.arange(3)})
    again = raveled.nested(raveled.vector)
    assert (again["w"].dtype, again["n"].dtype) == (np.float32, np.float64)


def test_many_vectors_can_be_nested_at_once():
    raveled = Raveled({"w": np.zeros((2, 3)), "b": 0.5})
    many = raveled.nested(np.arange(28.0).reshape(2, 2, 7))
    assert many["w"].shape == (2, 2, 2, 3)
    assert np.array_equal(many["b"], [[6.0, 13.0], [20.0, 27.0]])


def test_lists_of_numbers_are_arrays():
    assert np.array_equal(Raveled([1, 2.0]).nested(np.array([3.0, 4.0])), [3.0, 4.0])
