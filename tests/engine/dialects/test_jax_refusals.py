"""Refusals of arguments that JAX's functions do not take: they say which they do take."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.tables import cases

VARIABLES = {"x": np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]), "v": np.array([3.0, -1.0, 2.0])}


@cases("text, error, message")
def test_is_refused(ask, text, error, message):
    with pytest.raises(error, match=message) as caught:
        ask.value(text, VARIABLES)
    assert type(caught.value) is error


@cases("text, expected")
def test_what_is_close_to_it_is_answered(ask, text, expected):
    assert_array_equal(ask.value(text, VARIABLES), expected)
