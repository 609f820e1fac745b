"""Roots: of systems with known ones, by every method."""

from time import perf_counter

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits
from gradwire_engine.errors import (
    DeadlineExceeded,
    DerivativeError,
    DomainError,
    InputError,
    OverBudget,
)
from gradwire_solvers import METHODS, LocalProblem, Specification, solve
from numpy.testing import assert_allclose
from scipy.optimize import root

from tests.engine.solvers.conftest import pointer_to

CIRCLE = "{'on': x**2 + y**2 - 4, 'line': x - y}"
LINEAR = "A @ x + 0.1*x**3 - b"
RNG = np.random.default_rng(3)
A, B = 4 * np.eye(6) + RNG.normal(size=(6, 6)) / 3, RNG.normal(size=6)
METHOD = pytest.mark.parametrize("method", [*METHODS["root"]])


def by_hand(x):
    return A @ x + 0.1 * x**3 - B


@METHOD
def test_roots_are_those_of_scipy_itself(run, data, method):
    mine = run("root", LINEAR, {"x": np.zeros(6), "A": data(A), "b": data(B)}, method)
    theirs = root(by_hand, np.zeros(6), jac=lambda x: A + np.diag(0.3 * x**2))
    assert mine.success
    assert_allclose(mine.solution["x"], theirs.x, atol=1e-5)
    assert_allclose(mine.value, by_hand(mine.solution["x"]), atol=1e-12)
    assert mine.gradient_norm == pytest.approx(np.abs(mine.value).max())
    assert mine.evaluations.value >= mine.iterations
    assert mine.history["value"][0] == pytest.approx(np.abs(B).max())


def test_residuals_come_in_the_structure_of_the_target(run):
    found = run("root", CIRCLE, {"x": 1.0, "y": 0.5})
    assert_allclose([*found.solution.values()], np.sqrt(2), rtol=1e-8)
    assert found.value.keys() == {"on", "line"}
    assert np.abs(found.value["on"]) < 1e-8


def test_a_system_without_a_root_is_no_success(run):
    found = run("root", "x**2 + 1", {"x": [2.0]})
    assert not found.success
    assert found.value[0] >= 1


@METHOD
def test_a_poll_ends_any_method_and_nan_is_refused(run, method):
    polls = iter(range(3))

    def poll():
        if next(polls, None) is None:
            raise DeadlineExceeded("enough")

    with pytest.raises(DeadlineExceeded, match="enough"):
        run("root", CIRCLE, {"x": 1.0, "y": 0.5}, method, poll=poll)
    with pytest.raises(DomainError, match="log is the first"):
        run("root", "log(x)", {"x": [-1.0, 2]}, method)


@METHOD
def test_a_region_without_values_ends_no_run_with_an_error(run, method):
    found = run("root", "log(x) - 1 + sqrt(30 - x)", {"x": [0.1, 29]}, method)
    assert np.isfinite(found.solution["x"]).all()


@METHOD
def test_the_time_may_be_limited(run, method):
    seconds = iter(range(10_000))
    found = run(
        "root",
        CIRCLE,
        {"x": 1.0, "y": 0.5},
        method,
        max_seconds=6.0,
        clock=lambda: float(next(seconds)),
    )
    assert found.message == "stopped after 6 seconds"
    assert np.isfinite(found.value["on"])


def test_a_root_needs_as_many_values_as_unknowns(run, data):
    with pytest.raises(InputError, match="the sources have, 3, got 2") as refused:
        run("root", "x[:2]", {"x": [1.0, 2, 3]})
    assert pointer_to(refused) == "/target"
    with pytest.raises(DerivativeError, match="no derivative in any source"):
        run("root", "y", {"x": [1.0, 2], "y": data([1.0, 2])})


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_a_dense_jacobian_that_is_too_large_is_refused_before_it_is_made(method):
    engine = Engine(Limits(array_bytes=1_000_000))
    problem = LocalProblem(engine, engine.parse("x*x - 2"), {"x": Leaf(np.ones(400))})
    with pytest.raises(OverBudget, match="a dense Jacobian of 1,280,000 bytes"):
        solve(problem, Specification("root", method), clock=perf_counter)
    found = solve(problem, Specification("root", "krylov"), clock=perf_counter)
    assert_allclose(found.solution["x"], np.sqrt(2), rtol=1e-5)


@pytest.mark.parametrize(("text", "start"), [("x**2 + 1", 1.0), ("x**2 - 1", 0.0)])
def test_a_least_sum_of_squares_is_no_root(run, text, start):
    found = run("root", text, {"x": start}, "lm")
    assert not found.success
    assert found.message.startswith("the values do not become zero: 1 is left; ")


@pytest.mark.thorough
@METHOD
@pytest.mark.parametrize("text", ["1e200 * (x - 1)", "1e-200 * (x - 1)", "x * 0 + 1"])
def test_where_scipy_raises_a_run_ends_without_an_error(run, text, method):
    found = run("root", text, {"x": [5.0, 6.0]}, method)
    assert not found.success or np.max(np.abs(found.value)) < 1e-190


def test_krylov_differs_by_more_than_single_precision_rounds(run):
    found = run("root", "cos(x) - x", {"x": np.float32(1)}, "krylov")
    assert_allclose(found.solution["x"], 0.739085, rtol=1e-5)


@pytest.mark.parametrize("method", ["broyden1", "df-sane"])
def test_without_success_the_solution_is_the_best_point(run, method):
    found = run("root", "log(x) + 3*x", {"x": 5.0}, method, tol=1e-6)
    assert not found.success
    assert found.value == min(found.history["value"])


WITH_ROOTS = {
    "u - cos(u)": [1.0],
    "exp(u) - 2": [0.3],
    "u**2": [1.0],
    "u**3": [1.0],
    "tanh(u - 0.5)": [1.0],
    "maximum(u, 0)": [3.0],
    "stack([u[0]**2 + u[1]**2 - 4, u[0] - u[1]])": [1.0, 0.5],
    "stack([u[0]**2 - 4, u[1] + u[1]**3 + u[0] - 2])": [1.0, 0.0],
    "stack([u[0] + u[1], u[0] + u[1] + (u[0] - u[1])**2])": [1.0, 0.3],
    "u * (1 + u**2)": [3.0] * 100,
}
WITHOUT_ROOTS = {
    "exp(-u)": [1.0],
    "1 / (u - 1)": [3.0],
    "1 / (1 + u**2)": [1.0],
    "exp(-u**2)": [0.5],
    "u**2 + 1": [2.0],
    "1 - tanh(u)": [0.3],
    "log1p(exp(-u))": [1.0],
    "stack([u[0] - 1, exp(-u[1])])": [3.0, 1.0],
    "stack([u[0] + u[1] - 1, u[0] + u[1] - 2])": [0.3, 1.0],
    "exp(-u) ": [1.0] * 100,
}
UNITS = [(1.0, 1.0, 1.0), (1e-12, 1e12, 1.7), (1e12, 1e-12, 1.0)]


@METHOD
@pytest.mark.parametrize(
    ("text", "start", "is_root"),
    [
        *((*each, True) for each in WITH_ROOTS.items()),
        *((*each, False) for each in WITHOUT_ROOTS.items()),
    ],
)
def test_a_root_is_a_success_and_what_tends_to_zero_is_none(
    run, data, text, start, is_root, method
):
    program = f"u = x / length\nunit * ({text.strip()})"
    for unit, length, times in UNITS:
        variables = {"x": length * times * np.array(start), "unit": data(unit)}
        found = run("root", program, variables | {"length": data(length)}, method)
        assert found.success == is_root, (unit, length, times, found.message)


@pytest.mark.parametrize(("text", "is_root"), [("exp(-x)", False), ("x**2", True)])
@METHOD
def test_explicit_tolerances_make_no_roots(run, text, is_root, method):
    found = run("root", text, {"x": [1.0]}, method, tol=1e-6)
    assert found.success == is_root
