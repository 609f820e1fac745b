"""SciPy's roots of systems of equations, by MINPACK's steps."""

from typing import Any

import gradwire
import numpy as np
import pytest
from scipy import optimize


def rosenbrock(x: Any) -> Any:
    return [10 * (x[1] - x[0] ** 2), 1 - x[0]]


def broyden(x: Any) -> Any:
    padded = np.concatenate([[0.0], x, [0.0]])
    return (3 - 2 * x) * x - padded[:-2] - 2 * padded[2:] + 1


def helical(x: Any) -> Any:
    turn = np.arctan2(x[1], x[0]) / (2 * np.pi)
    return np.array([10 * (x[2] - 10 * turn), 10 * (np.hypot(x[0], x[1]) - 1), x[2]])


def freudenstein(x: Any) -> Any:
    a, b = x
    return [a - 13 + ((5 - b) * b - 2) * b, a - 29 + ((b + 1) * b - 14) * b]


def singular(x: Any) -> Any:
    return [x[0] * x[1], x[0] + x[1] - 1]


#: With the starting points of Moré, Garbow and Hillstrom, Testing Unconstrained Optimization
#: Software (1981), and one where the matrix of derivatives is singular.
STARTS: list[Any] = [
    (rosenbrock, [-1.2, 1.0]),
    (broyden, -np.ones(10)),
    (helical, [-1.0, 0.1, 0.0]),
    (freudenstein, [6.0, 5.0]),
    (singular, [0.3, 0.3]),
]


@pytest.mark.parametrize(("f", "start"), STARTS)
def test_the_root_is_that_of_scipy(f, start, client):
    expected, _, status, _ = optimize.fsolve(f, start, full_output=True)
    assert status == 1
    found = client.function(lambda at: optimize.fsolve(f, at))(np.asarray(start))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def circle(x: Any, c: Any, d: Any) -> Any:
    return [x[0] ** 2 + x[1] ** 2 - c, x[0] - d * x[1]]


def slopes(x: Any, c: Any, d: Any) -> Any:
    return np.array([[2 * x[0], 2 * x[1]], [1.0, -d]])


def both(x: Any, c: Any, d: Any) -> Any:
    return circle(x, c, d), slopes(x, c, d)


def in_full(c: Any, d: Any) -> Any:
    x, found, status, said = optimize.fsolve(circle, [1.0, 1.0], (c, d), full_output=True)
    assert (status, said) == (1, "The solution converged.")
    return x + found["fvec"]


CASES: dict[str, Any] = {
    "fsolve": lambda c, d: optimize.fsolve(circle, [1.0, 1.0], args=(c, d), xtol=1e-12),
    "fprime": lambda c, d: optimize.fsolve(circle, [1, 1], (c, d), slopes, xtol=1e-12),
    "col_deriv": lambda c, d: optimize.fsolve(
        circle, [1, 1], (c, d), lambda *at: slopes(*at).T, col_deriv=True, xtol=1e-12
    ),
    "full_output": in_full,
    "root": lambda c, d: optimize.root(circle, [1.0, 1.0], args=(c, d), tol=1e-12).x,
    "jac": lambda c, d: optimize.root(circle, [1, 1], (c, d), jac=slopes, tol=1e-12).x,
    "both": lambda c, d: optimize.root(both, [1, 1], (c, d), jac=True, options={"factor": 9}).x,
    "a number": lambda c, d: optimize.fsolve(lambda x: x**3 - c * d, 2.0, xtol=1e-12)[0],
    "a recorded start": lambda c, d: optimize.fsolve(
        lambda x: np.exp(x) - c * x - d, c, xtol=1e-12
    )[0],
}


@pytest.mark.parametrize("what", CASES)
def test_values_and_derivatives_are_scipys(what, check):
    check(CASES[what], 2.0, 1.5)


@pytest.mark.parametrize("name", ["fsolve", "root"])
def test_what_does_not_converge_is_refused(name, client):
    f = client.function(lambda at: getattr(optimize, name)(freudenstein, at))
    with pytest.raises(gradwire.NotTraceable, match=rf"optimize\.{name} does not converge"):
        f(np.array([0.5, -2.0]))


def test_each_example_has_its_own_root(client):
    roots = client.vmap(lambda c: optimize.fsolve(lambda x: x**2 + 1 - c, 1.0)[0])
    found = roots(np.array([2.0, 5.0, 0.5]))
    np.testing.assert_allclose(found, [1.0, 2.0, np.nan], rtol=1e-7)


def test_numbers_and_values_that_differ_are_said_as_scipy_does(client):
    f = client.function(lambda c: optimize.fsolve(lambda x: [x[0] - c], [1.0, 2.0]))
    with pytest.raises(gradwire.UsageError, match="mismatch between the input and output shape"):
        f(1.0)


REFUSED: dict[str, Any] = {
    "band": lambda c: optimize.fsolve(lambda x: x - c, np.ones(3), band=(0, 0)),
    "method='lm'": lambda c: optimize.root(lambda x: x - c, np.ones(3), method="lm").x,
    "these options": lambda c: optimize.root(lambda x: x - c, 1.0, options={"diag": [1.0]}).x,
}


@pytest.mark.parametrize("what", REFUSED)
def test_others_are_refused_by_name(what, client):
    with pytest.raises(gradwire.NotTraceable, match=what):
        client.function(REFUSED[what])(0.5)
