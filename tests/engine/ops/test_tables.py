"""Slopes, areas and interpolations are NumPy's and SciPy's, exact where theory says so."""

import numpy as np
import pytest
import scipy.integrate
from numpy.testing import assert_allclose

from tests.engine.ops.calls import result

RNG = np.random.default_rng(17)
X = RNG.normal(size=(3, 6))
RISING = np.cumsum(RNG.uniform(0.2, 1, size=6))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("spacing", [2.0, RISING], ids=["even", "uneven"])
def test_slopes(order, spacing):
    found = result("gradient", X, spacing, axis=1, edge_order=order)
    assert_allclose(found, np.gradient(X, spacing, axis=1, edge_order=order))


def test_slopes_of_a_parabola_are_exact():
    found = result("gradient", 3 * RISING**2 - RISING, RISING, edge_order=2)
    assert_allclose(found, 6 * RISING - 1)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("name", ["trapezoid", "simpson", "cumulative_trapezoid"])
def test_areas(name, n):
    theirs = getattr(scipy.integrate, name)
    for table, points in ((X[:, :n], RISING[:n]), (X[:, :n], np.cumsum(X[:, :n] ** 2 + 0.1, 1))):
        assert_allclose(result(name, table, points), theirs(table, points))
    assert_allclose(result(name, X[:, :n], dx=0.3), theirs(X[:, :n], dx=0.3))


def test_area_from_the_start():
    found = result("cumulative_trapezoid", X, RISING, initial=0)
    assert_allclose(found, scipy.integrate.cumulative_trapezoid(X, RISING, initial=0))


@pytest.mark.parametrize("n", [5, 6])
def test_areas_under_a_parabola_are_exact(n):
    points = RISING[:n]
    found = result("simpson", 3 * points**2 - 2 * points, points)
    assert found == pytest.approx(np.diff(points**3 - points**2).sum())


def test_a_table_that_repeats():
    points = np.linspace(-9, 9, 23)
    for period in (4.0, -2.5):
        found = result("interp", points, RISING[::-1], X[0], period=period)
        assert_allclose(found, np.interp(points, RISING[::-1], X[0], period=period))
