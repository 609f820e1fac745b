"""Splines through arrays are SciPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

from tests.engine.ops.calls import results

RNG = np.random.default_rng(50)
X = RNG.normal(size=(5, 6))
MODES = "constant nearest mirror reflect wrap grid-constant grid-wrap".split()


def places(*shape):
    """Between elements, on them, at both ends, and far outside."""
    inner = RNG.uniform(-9, 14, size=(len(shape), 30))
    exact = RNG.integers(-7, 13, size=(len(shape), 30))
    ends = np.array([[0.0, n - 1.0] for n in shape])
    return np.concatenate([inner, exact, ends], axis=1)


def interpolated(x, points, *args):
    return results("map_coordinates", x, points, *args)[0]


#: Not the one mode that is missing, nor where SciPy's splines miss the first element slightly.
COMPARED = [
    (mode, order, prefilter)
    for mode in MODES
    for order in range(4)
    for prefilter in (True, False)
    if not (prefilter and order > 1 and mode in ("grid-wrap", "reflect"))
]


@pytest.mark.parametrize(("mode", "order", "prefilter"), COMPARED)
def test_values_are_scipys(mode, order, prefilter):
    for x in (X, X[0], X[:1, :2], X[:2].reshape(2, 3, 2)):
        points = places(*x.shape)
        expected = ndimage.map_coordinates(
            x, points, order=order, mode=mode, cval=0.7, prefilter=prefilter
        )
        found = interpolated(x, points, order, mode, 0.7, prefilter)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "grid-wrap"])
def test_splines_go_through_the_elements(mode, order):
    points = np.indices(X.shape).astype(float)
    assert_allclose(interpolated(X, points, order, mode), X, rtol=1e-12, atol=1e-12)


def test_missing_values_may_stand_outside():
    found = interpolated(X[0], np.array([[-0.5, 2.0, 5.5]]), 1, "constant", np.nan)
    assert_array_equal(found, [np.nan, X[0, 2], np.nan])


def test_integers_are_interpolated_as_floats():
    assert interpolated(np.array([1, 2]), [[0.5]], 1).tolist() == [1.5]
    assert interpolated(np.array([1, 2]), [[1]], 1).tolist() == [2.0]


def test_slopes_at_elements_are_those_after_them(gradients):
    def line(f, x, p):
        return f.map_coordinates(x, p, 1, "nearest")

    assert gradients(line, [1, 3, 7], [[0, 1, 2]])[1] == [[2, 4, 0]]
    assert gradients(line, [1, 3, 7], [[-1, 1.5, 3]]) == [[1, 0.5, 1.5], [[0, 4, 0]]]
