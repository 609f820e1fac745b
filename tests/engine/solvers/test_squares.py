"""Least squares: SciPy itself on functions by hand, and sparse Jacobians like dense ones."""

from time import perf_counter

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits
from gradwire_engine.errors import DeadlineExceeded, DomainError, InputError
from gradwire_solvers import LocalProblem, Specification, solve
from gradwire_solvers.squares import LOSSES
from numpy.testing import assert_allclose
from scipy.optimize import least_squares
from scipy.sparse import issparse

T = np.linspace(0, 3, 25)
Y = 2 * np.exp(-1.3 * T) + 0.5 + 0.05 * np.sin(17 * T)
Y[4] += 3  # an outlier
TEXT = "a*exp(-b*t) + c - y"
VALUES = {"a": 1.0, "b": 1.0, "c": 0.0}
CHAIN = "[10*(x[1:] - x[:-1]**2), 1 - x[:-1]]"  # Rosenbrock's function as residuals


def residuals(x):
    return x[0] * np.exp(-x[1] * T) + x[2] - Y


def jacobian(x):
    decay = np.exp(-x[1] * T)
    return np.c_[decay, -x[0] * T * decay, np.ones_like(T)]


@pytest.fixture
def values(data):
    return {**VALUES, "t": data(T), "y": data(Y)}


@pytest.mark.parametrize("method", ["trf", "dogbox"])
@pytest.mark.parametrize("loss", [*LOSSES])
def test_a_run_is_that_of_scipy_itself(run, values, method, loss):
    options = {"loss": loss, "f_scale": 0.3, "gtol": 1e-10}
    mine = run("least_squares", TEXT, values, method, ["a", "b", "c"], options=options)
    theirs = least_squares(residuals, [1, 1, 0], jacobian, method=method, **options)
    assert_allclose(mine.solution, theirs.x, rtol=1e-5)
    assert mine.value == pytest.approx(theirs.cost, rel=1e-9)
    assert mine.gradient_norm == pytest.approx(theirs.optimality, abs=1e-6)
    assert mine.success
    assert abs(mine.evaluations.value - theirs.nfev) <= 2
    assert mine.iterations == mine.evaluations.gradient - 1


@pytest.mark.parametrize("method", ["lm", "gauss-newton"])
def test_the_other_methods_find_the_same(run, values, method):
    mine = run("least_squares", TEXT, values, method, ["a", "b", "c"])
    theirs = least_squares(residuals, [1, 1, 0], jacobian)
    assert_allclose(mine.solution, theirs.x, rtol=1e-3)
    assert mine.value == pytest.approx(theirs.cost, rel=1e-6)


@pytest.mark.parametrize("method", ["trf", "dogbox"])
def test_bounds_hold(run, values, method):
    bounds = {"b": (None, 1.1), "c": (0.6, 2)}
    start = values | {"c": 1.0}
    mine = run("least_squares", TEXT, start, method, ["a", "b", "c"], bounds=bounds)
    limits = [-np.inf, -np.inf, 0.6], [np.inf, 1.1, 2]
    theirs = least_squares(residuals, [1, 1, 1], jacobian, limits, method)
    assert_allclose(mine.solution, theirs.x, rtol=1e-3)
    assert mine.gradient_norm < 1e-3


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
def test_residuals_may_be_nested(run, method):
    found = run("least_squares", CHAIN, {"x": [-1.2, 1, 1]}, method)
    assert_allclose(found.solution["x"], 1, atol=1e-4)
    assert found.value == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("method", ["trf", "dogbox"])
def test_a_sparse_jacobian_gives_what_a_dense_one_does(run, data, method):
    """Broyden's tridiagonal function, of 300 elements: as few colours as it has diagonals."""
    text = "(3 - 2*x)*x - concatenate([z, x[:-1]]) - 2*concatenate([x[1:], z]) + 1"
    given = {"x": -np.ones(300), "z": data(np.zeros(1))}
    sparse, dense = (
        run("least_squares", text, given, method, ["x"], options={"tr_solver": solver})
        for solver in ("lsmr", "exact")
    )
    assert_allclose(sparse.solution[0], dense.solution[0], atol=1e-6)
    assert sparse.value == pytest.approx(0, abs=1e-12)


def test_jacobians_are_sparse_where_few_elements_differ_from_zero(problem):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 4))
    banded = problem("a = x * roll(x, 1, axis=0)\nreshape(a, (-1,)) * s", {"x": x, "s": 2.0})
    found = banded.jacobian(banded.start)
    assert issparse(found)
    assert found.nnz == 3 * 240
    by_columns = [
        (banded.residuals(banded.start + 1e-6 * e) - banded.residuals(banded.start - 1e-6 * e))
        / 2e-6
        for e in np.eye(241)
    ]
    assert_allclose(found.toarray(), np.array(by_columns).T, atol=1e-8)
    full = problem("A @ x", {"x": np.ones(200), "A": rng.normal(size=(200, 200))}, ["x"])
    assert not issparse(full.jacobian(full.start))


def test_products_of_gauss_and_newton_are_those_of_the_jacobian(problem, values):
    given = problem(TEXT, values, ["a", "b", "c"])
    x, v = np.array([1.5, 0.7, 0.2]), np.array([0.3, -1.0, 2.0])
    matrix = jacobian(x)
    assert_allclose(given.jacobian(x), matrix, rtol=1e-13)
    assert_allclose(given.gauss_newton_product(x, v), matrix.T @ (matrix @ v))


def test_fewer_residuals_than_unknowns(run):
    with pytest.raises(InputError, match="lm needs at least 3 residuals"):
        run("least_squares", "x[:2] - 1", {"x": [3.0, 2, 1]}, "lm")
    found = run("least_squares", "x[:2] - 1", {"x": [3.0, 2, 1]}, "trf")
    assert_allclose(found.solution["x"], [1, 1, 1], atol=1e-6)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
def test_a_poll_ends_any_method_and_nan_is_refused(run, values, method):
    polls = iter(range(3))

    def poll():
        if next(polls, None) is None:
            raise DeadlineExceeded("enough")

    with pytest.raises(DeadlineExceeded, match="enough"):
        run("least_squares", TEXT, values, method, ["a", "b", "c"], poll=poll)
    with pytest.raises(DomainError, match="log is the first"):
        run("least_squares", "log(x)", {"x": [-1.0, 2]}, method)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
def test_a_region_without_values_ends_no_run_with_an_error(run, method):
    found = run("least_squares", "log(x) - 3 + sqrt(30 - x)", {"x": [0.1, 2, 29]}, method)
    assert np.isfinite(found.value)


def test_wrong_residuals_are_refused(run):
    with pytest.raises(InputError, match="expected real numbers, got complex128"):
        run("least_squares", "x + 1j", {"x": [1.0]})
    with pytest.raises(InputError, match="no residuals"):
        run("least_squares", "x[:0]", {"x": [1.0]})
    with pytest.raises(DomainError, match="squares of the residuals are too large"):
        run("least_squares", "exp(x)", {"x": [600.0]})


def test_what_is_fixed_is_no_source(run, values):
    with pytest.raises(InputError, match="the bounds of a are equal") as refused:
        run("least_squares", TEXT, values, "trf", ["a", "b", "c"], bounds={"a": (1, 1)})
    assert refused.value.hint == "leave what is fixed out of sources"


@pytest.mark.parametrize("method", ["trf", "dogbox"])
@pytest.mark.parametrize("scale", [1e-150, 1e300])
def test_any_scale_of_a_loss_is_taken(run, values, method, scale):
    found = run("least_squares", TEXT, values, method, ["a", "b", "c"], options={"f_scale": scale})
    assert found.success


@pytest.mark.parametrize("method", ["trf", "dogbox"])
@pytest.mark.parametrize("high", [3.0, 5.0, None])
def test_a_start_at_bounds_is_no_end(run, data, method, high):
    matrix = np.random.default_rng(0).normal(size=(50, 3))
    variables = {"w": np.zeros(3), "X": data(matrix), "y": data(matrix @ [1.0, 2, 3])}
    found = run("least_squares", "X @ w - y", variables, method, ["w"], bounds={"w": (0, high)})
    assert_allclose(found.solution[0], [1, 2, 3], rtol=1e-4)


@pytest.mark.parametrize(
    "text", ["y - 1, sum(x)", "concatenate([reshape(x, [-1]), reshape(y, [1])]) - 1"]
)
@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
def test_some_sources_may_be_empty(run, text, method):
    found = run("least_squares", text, {"x": np.zeros((0, 3)), "y": 0.5}, method)
    assert found.solution["x"].shape == (0, 3)
    assert_allclose(found.solution["y"], 1)


def test_gauss_newton_needs_no_jacobian_that_is_too_large():
    engine = Engine(Limits(array_bytes=100_000))
    t = np.linspace(0, 1, 5000)
    variables = {"a": Leaf(np.ones(3)), "t": Leaf(t, False), "y": Leaf(2 - t + 3 * t * t, False)}
    program = engine.parse("a[0] + a[1]*t + a[2]*t**2 - y")
    problem = LocalProblem(engine, program, variables, ["a"], of_residuals=True)
    found = solve(problem, Specification("least_squares", "gauss-newton"), clock=perf_counter)
    assert found.success
    assert_allclose(found.solution[0], [2, -1, 3], rtol=1e-6)
