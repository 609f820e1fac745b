"""Images of another size: what is kept, and what the kernels weigh."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.check import Call, evaluate, trace
from gradwire_engine.errors import BadArgument, OverBudget, ShapeMismatch
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder

LINE = np.array([1.0, 4.0, -2.0, 3.0, 0.5])
SMOOTH = ("linear", "cubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area")


def resized(x, *args):
    call = Call.of("resize_image", x, *args)
    return evaluate(call.record, call.values)[0]


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", SMOOTH)
@pytest.mark.parametrize("count", [1, 2, 5, 8, 17])
def test_constants_stay(method, count, antialias):
    np.testing.assert_allclose(resized(np.full(5, 3.0), (count,), method, antialias), 3)


@pytest.mark.parametrize("method", ["linear", "cubic", "lanczos3", "area"])
def test_an_odd_multiple_keeps_the_elements_in_the_middle(method):
    np.testing.assert_allclose(resized(LINE, (15,), method)[1::3], LINE)


def test_lines_stay_lines_away_from_the_edges():
    found = resized(np.arange(8.0), (16,), "cubic")
    np.testing.assert_allclose(found[4:12], (np.arange(4, 12) + 0.5) / 2 - 0.5)


@pytest.mark.parametrize("method", ["area", "nearest"])
def test_shrinking_by_whole_numbers(method):
    expected = {"area": LINE[:4].reshape(2, 2).mean(1), "nearest": LINE[1:4:2]}[method]
    np.testing.assert_allclose(resized(LINE[:4], (2,), method), expected)


@pytest.mark.parametrize(
    ("method", "antialias", "expected"),
    [
        ("linear", True, [2.28571429, 0.44444444, 1.57142857]),
        ("linear", False, [2.0, -2.0, 1.33333333]),
        ("cubic", True, [2.27692308, 0.50697674, 1.50769231]),
        ("cubic", False, [2.03448276, -2.0, 1.36206897]),
        ("lanczos3", True, [2.24555711, 0.65984331, 1.42347154]),
        ("lanczos3", False, [2.30359812, -2.0, 1.60723662]),
    ],
)
def test_values_are_those_of_jax(method, antialias, expected):
    np.testing.assert_allclose(resized(LINE, (3,), method, antialias), expected, rtol=1e-7)


def test_nearest_keeps_integers_and_booleans():
    assert resized(np.array([1, 2, 3]), (5,), "nearest").tolist() == [1, 1, 2, 3, 3]
    assert resized(np.array([True, False]), (4,), "nearest").tolist() == [True, True, False, False]


def test_only_axes_that_change_are_weighed():
    x = np.array([[np.inf, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(resized(x, (2, 2), "cubic"), x)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ((LINE, (3, 4)), ShapeMismatch),
        ((LINE, (-1,)), BadArgument),
        ((LINE, (3,), "quintic"), BadArgument),
        ((LINE, (3,), "linear", 1), BadArgument),
        ((LINE[:0], (3,)), ShapeMismatch),
        ((LINE[:0], (3,), "nearest"), ShapeMismatch),
    ],
)
def test_refusals(args, error):
    call = Call.of("resize_image", *args)
    with pytest.raises(error):
        trace(call.record, call.values)


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_huge_results_are_refused_before_they_are_made(method):
    b = Builder(Limits())
    with pytest.raises(OverBudget):
        FUNCTIONS["resize_image"].record(b, [1.0, 2.0], (1 << 40,), method)
