"""Slopes, areas and interpolations are NumPy's and SciPy's, exact where theory says so."""

import numpy as np
import pytest
import scipy.integrate
from gradwire_engine.check import Call, evaluate
from gradwire_engine.errors import BadArgument, ShapeMismatch

RNG = np.random.default_rng(17)
X = RNG.normal(size=(3, 6))
RISING = np.cumsum(RNG.uniform(0.2, 1, size=6))


def value(name, *args, **kwargs):
    call = Call.of(name, *args, **kwargs)
    found = evaluate(call.record, call.values)
    return found[0] if len(found) == 1 else found


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("spacing", [2.0, RISING], ids=["even", "uneven"])
def test_slopes(order, spacing):
    found = value("gradient", X, spacing, axis=1, edge_order=order)
    np.testing.assert_allclose(found, np.gradient(X, spacing, axis=1, edge_order=order))


def test_slopes_of_a_parabola_are_exact():
    found = value("gradient", 3 * RISING**2 - RISING, RISING, edge_order=2)
    np.testing.assert_allclose(found, 6 * RISING - 1)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("name", ["trapezoid", "simpson", "cumulative_trapezoid"])
def test_areas(name, n):
    theirs = getattr(scipy.integrate, name)
    for table, points in ((X[:, :n], RISING[:n]), (X[:, :n], np.cumsum(X[:, :n] ** 2 + 0.1, 1))):
        np.testing.assert_allclose(value(name, table, points), theirs(table, points))
    np.testing.assert_allclose(value(name, X[:, :n], dx=0.3), theirs(X[:, :n], dx=0.3))


def test_area_from_the_start():
    found = value("cumulative_trapezoid", X, RISING, initial=0)
    np.testing.assert_allclose(found, scipy.integrate.cumulative_trapezoid(X, RISING, initial=0))


@pytest.mark.parametrize("n", [5, 6])
def test_areas_under_a_parabola_are_exact(n):
    points = RISING[:n]
    found = value("simpson", 3 * points**2 - 2 * points, points)
    assert found == pytest.approx(np.diff(points**3 - points**2).sum())


def test_a_table_that_repeats():
    points = np.linspace(-9, 9, 23)
    for period in (4.0, -2.5):
        found = value("interp", points, RISING[::-1], X[0], period=period)
        np.testing.assert_allclose(found, np.interp(points, RISING[::-1], X[0], period=period))


REFUSED = [
    (Call.of("gradient", X, edge_order=3), BadArgument, "edge_order 1 and 2"),
    (Call.of("gradient", X[:, :2], axis=1, edge_order=2), ShapeMismatch, "at least 3 elements"),
    (Call.of("gradient", X, RISING[:3], axis=1), ShapeMismatch, "got .* coordinates"),
    (Call.of("interp", X, RISING, RISING, period=RISING), ShapeMismatch, "one period"),
    (Call.of("simpson", X, RISING[:4]), ShapeMismatch, "points for a table"),
    (Call.of("trapezoid", X, dx=RISING), ShapeMismatch, "one number as dx"),
    (Call.of("cumulative_trapezoid", X, initial=1), BadArgument, "initial is 0"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refusal(call, error, message):
    with pytest.raises(error, match=message):
        evaluate(call.record, call.values)
