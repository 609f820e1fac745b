"""SciPy's roots of functions of one number, by the same steps."""

from typing import Any

import gradwire
import numpy as np
import pytest
from scipy import optimize


def kepler(anomaly, mean, eccentricity):
    return anomaly - eccentricity * np.sin(anomaly) - mean


def slope(anomaly, mean, eccentricity):
    return 1 - eccentricity * np.cos(anomaly)


def bend(anomaly, mean, eccentricity):
    return eccentricity * np.sin(anomaly)


def cube(c: Any, **options: Any) -> Any:
    return optimize.root_scalar(lambda x: x**3 - c, **options).root


def in_full(f: Any) -> Any:
    return lambda *given: f(kepler, 0.0, 7.0, args=given, full_output=True)[0]


CASES: list[Any] = [
    ("brentq", in_full(optimize.brentq), 1.3, 0.4),
    ("brenth", in_full(optimize.brenth), 1.3, 0.4),
    ("bisect", lambda m, e: optimize.bisect(kepler, 0.0, 7.0, (m, e), xtol=1e-14), 1.3, 0.4),
    ("several roots", lambda c: optimize.brentq(lambda x: np.cos(c * x), 0.1, 20.0), 1.1),
    ("recorded ends", lambda a: optimize.brentq(lambda x: x**3 - 2 * a, a - 1, 2 * a), 1.0),
    ("newton", lambda m, e: optimize.newton(kepler, 1.0, slope, (m, e)), 1.3, 0.4),
    ("halley", lambda m, e: optimize.newton(kepler, m, slope, (m, e), fprime2=bend), 1.3, 0.4),
    ("secant", lambda m, e: optimize.newton(kepler, m, args=(m, e), tol=1e-12), 1.3, 0.4),
    ("secant", lambda c: optimize.newton(lambda x: x**3 - c, 1.0, x1=2.0, tol=1e-12), 2.0),
    ("root_scalar", lambda c: cube(c, bracket=(0, 3)), 2.0),
    ("root_scalar", lambda c: cube(c, bracket=(0, 3), method="bisect", xtol=1e-14), 2.0),
    ("root_scalar", lambda c: cube(c, x0=1.0, fprime=lambda x: 3 * x**2), 2.0),
    ("root_scalar", lambda c: cube(c, x0=1.0, x1=2.0, xtol=1e-12), 2.0),
]  # fmt: skip


def test_values_and_derivatives_are_scipys(case, check):
    _, f, *args = case
    check(f, *args)


def test_roots_at_an_end(client):
    f = client.function(lambda c: optimize.brentq(lambda x: x - c, 0.0, 3.0))
    for c in (0.0, 1.0, 3.0):
        assert f(c) == pytest.approx(c, abs=1e-11)
    with pytest.raises(ValueError, match="different signs"):
        f(4.0)


def around(c: Any, **options: Any) -> Any:
    """Newton's steps from 0 lead to 1 and back."""
    return optimize.newton(lambda x: x**3 - 2 * x + c, 0.0, lambda x: 3 * x**2 - 2, **options)


LOST: list[Any] = [
    ("brentq", lambda c: optimize.brentq(lambda x: x**3 - c, 0.0, 3.0, maxiter=3)),
    ("without disp", lambda c: optimize.bisect(lambda x: x - c, 0, 3, maxiter=3, disp=False)),
    ("newton", around),
    ("newton without disp", lambda c: around(c, disp=False)),
    ("root_scalar", lambda c: cube(c, bracket=(0, 3), maxiter=3)),
    ("root_scalar by secants", lambda c: cube(c, x0=0.1, x1=0.2, maxiter=3)),
]


@pytest.mark.parametrize(("_", "f"), LOST)
def test_what_does_not_converge_is_an_error(_, f, client):
    """Also where SciPy gives what it has by then, which has no derivative."""
    with pytest.raises(gradwire.UsageError, match="converge"):
        client.function(f)(2.0)


@pytest.mark.parametrize(("_", "f"), LOST)
def test_an_example_that_does_not_converge_is_nan(_, f, client):
    assert np.isnan(client.vmap(f)(np.array([2.0, 2.0]))).all()


def test_each_example_has_its_own_root(client):
    roots = client.vmap(lambda c: optimize.brentq(lambda x: x**3 - c, 0.0, 3.0))
    found = roots(np.array([1.0, 2.0, 50.0]))
    np.testing.assert_allclose(found, [1.0, np.cbrt(2.0), np.nan], rtol=1e-11)


REFUSED: dict[str, Any] = {
    "ridder": lambda c: optimize.ridder(lambda x: x - c, -1.0, 1.0),
    "newton from an array": lambda c: optimize.newton(lambda x: x - c, np.ones(2))[0],
    "minimize_scalar": lambda c: optimize.minimize_scalar(lambda x: (x - c) ** 2).x,
    "toms748": lambda c: cube(c, bracket=(0, 3), method="toms748"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_others_are_refused_by_name(what, client):
    with pytest.raises(gradwire.NotTraceable, match=what) as caught:
        client.function(REFUSED[what])(0.5)
    assert "gradwire." in caught.value.hint or "brentq" in caught.value.hint
