"""The largest and smallest elements are NumPy's, whichever way they are looked for."""

import numpy as np
import pytest
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.base import PRIMITIVES
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

#: Many short rows, few, and long ones.
SHAPES = st.sampled_from([(40, 5), (40, 1), (3, 5), (40, 33), (2, 40, 5)])
DTYPES = st.sampled_from(["float64", "float32", "int64", "bool", "complex128"])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["max", "min"])
@given(st.tuples(DTYPES, SHAPES).flatmap(lambda kind: arrays(*kind)))
def test_extremes_are_numpys(name, axis, x):
    found = PRIMITIVES[name]((axis,)).kernel(NUMPY, x)
    expected = getattr(np, name)(x, axis=axis)
    assert found.dtype == expected.dtype
    assert_array_equal(found, expected)


@given(SHAPES.flatmap(lambda shape: arrays(float, shape)))
def test_exponents_are_lessened_by_the_largest_or_by_0_if_there_is_none(x):
    found = PRIMITIVES["shift"]((1,)).kernel(NUMPY, x)
    largest = x.max(axis=1)
    assert_array_equal(found, np.where(largest == -np.inf, 0, largest))
