"""Items of several results have the names that the library gives them."""

import numpy as np
import pytest
from gradwire_engine.dialects import find
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.record.calls import _BY_FUNCTION
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases

X = np.array([[2.0, 0.5], [0.5, 1.0]])


@cases("text, expected")
def test_value(ask, text, expected):
    assert_allclose(np.asarray(ask.value(text, {"x": X})), expected, atol=1e-14)


def test_named_results_have_gradients(ask):
    found = ask.gradients("sum(tf.math.top_k(x, 1).values)", {"x": X}, sources="x")
    assert_array_equal(found, np.eye(2))


def test_all_of_them_are_an_answer(ask):
    values, indices = ask.value("torch.sort(x, dim=1)", {"x": X})
    assert values.tolist() == [[0.5, 2.0], [0.5, 1.0]]
    assert indices.tolist() == [[1, 0], [0, 1]]


def test_other_names_are_refused(ask):
    with pytest.raises(BadArgument, match="no attribute 'value'"):
        ask.value("tf.math.top_k(x, 1).value", {"x": X})
    with pytest.raises(BadArgument, match="no attribute 'values'"):
        ask.value("[x].values", {"x": X})


@pytest.mark.parametrize("function", _BY_FUNCTION)
def test_names_are_of_functions_under_their_first_name(function):
    found = FUNCTIONS.get(function) or find(function)
    assert found is not None
    assert found.name == function
