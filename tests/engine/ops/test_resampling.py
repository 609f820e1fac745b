"""Images of another size: what is kept, and what the kernels weigh."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results
from tests.tables import cases

LINE = np.array([1.0, 4.0, -2.0, 3.0, 0.5])
SMOOTH = ("linear", "cubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area")


def resized(x, *args):
    return results("resize_image", x, *args)[0]


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", SMOOTH)
@pytest.mark.parametrize("count", [1, 2, 5, 8, 17])
def test_constants_stay(method, count, antialias):
    assert_allclose(resized(np.full(5, 3.0), (count,), method, antialias), 3)


@pytest.mark.parametrize("method", ["linear", "cubic", "lanczos3", "area"])
def test_an_odd_multiple_keeps_the_elements_in_the_middle(method):
    assert_allclose(resized(LINE, (15,), method)[1::3], LINE)


def test_lines_stay_lines_away_from_the_edges():
    found = resized(np.arange(8.0), (16,), "cubic")
    assert_allclose(found[4:12], (np.arange(4, 12) + 0.5) / 2 - 0.5)


@pytest.mark.parametrize("method", ["area", "nearest"])
def test_shrinking_by_whole_numbers(method):
    expected = {"area": LINE[:4].reshape(2, 2).mean(1), "nearest": LINE[1:4:2]}[method]
    assert_allclose(resized(LINE[:4], (2,), method), expected)


@cases("method, antialias, expected")
def test_values_are_those_of_jax(method, antialias, expected):
    assert_allclose(resized(LINE, (3,), method, antialias), expected, rtol=1e-7)


def test_nearest_keeps_integers_and_booleans():
    assert resized(np.array([1, 2, 3]), (5,), "nearest").tolist() == [1, 1, 2, 3, 3]
    assert resized(np.array([True, False]), (4,), "nearest").tolist() == [True, True, False, False]


def test_only_axes_that_change_are_weighed():
    x = np.array([[np.inf, 1.0], [2.0, 3.0]])
    assert_array_equal(resized(x, (2, 2), "cubic"), x)


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_huge_results_are_refused_before_they_are_made(method):
    b = Builder(Limits())
    with pytest.raises(OverBudget):
        FUNCTIONS["resize_image"].record(b, [1.0, 2.0], (1 << 40,), method)
