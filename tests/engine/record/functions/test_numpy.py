"""Functions whose result values decide on: NumPy's values, recorded anew where they decide so."""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument
from numpy.testing import assert_array_equal

from tests.tables import cases

X = np.array([[1.0, -2.0, 3.0], [0.0, 3.0, -2.0]])
K = np.array([3, 1, 1, 5])
GAPS = np.array([np.nan, 2.0, np.nan, 2.0, 1.0])


def same(found, expected):
    if isinstance(found, tuple | list):
        for one, wanted in zip(found, expected, strict=True):
            assert_array_equal(one, wanted)
    else:
        assert_array_equal(found, expected)


@cases("text, expected")
def test_value(ask, text, expected):
    same(ask.value(text, {"x": X, "k": K, "gaps": GAPS}), expected)


def test_other_values_are_counted_anew(ask):
    for values in ([1.0, 1, 2], [1.0, 2, 3], [4.0, 4, 4]):
        same(ask.value("np.unique(x)", {"x": values}), np.unique(values))


def test_a_derivative_goes_to_the_first_of_equals(ask):
    text = "u = np.unique(x)\nsum(u * u)"
    found = ask.gradients(text, {"x": [3.0, 1.0, 3.0]}, sources="x")
    same(found, [6, 2, 0])


def test_what_was_not_chosen_has_no_part_in_the_derivative(ask):
    text = "sum(np.piecewise(x, [x > 0], [np.sqrt, lambda t: 3.0 * t]))"
    same(ask.gradients(text, {"x": [4.0, -1.0, 0.0]}, sources="x"), [0.25, 3, 3])


@pytest.mark.parametrize("functions", ["[]", "[1, 2, 3]"])
def test_functions_as_many_as_conditions(ask, functions):
    with pytest.raises(BadArgument, match="a function for each condition"):
        ask.value(f"piecewise(x, [x > 0], {functions})", {"x": X})
