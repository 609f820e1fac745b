"""SciPy's methods on programs: SciPy itself on functions written by hand is the truth."""

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
from gradwire_solvers import METHODS, Constraint, LocalProblem, Specification, solve
from numpy.testing import assert_allclose
from scipy.optimize import minimize, rosen, rosen_der, rosen_hess, rosen_hess_prod

from tests.engine.solvers.conftest import pointer_to

ROSENBROCK = "sum(100*(x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)"
START = np.array([-1.2, 1, 0.7, 1.4])
BY_SCIPY = [name for name, method in METHODS["minimize"].items() if not method.first_order]
#: HS71 of Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981).
HS71 = {
    "text": "x[0]*x[3]*(x[0] + x[1] + x[2]) + x[2]",
    "variables": {"x": [1, 5, 5, 1]},
    "bounds": {"x": (1, 5)},
}
HS71_OPTIMUM = [1, 4.74299963, 3.82114998, 1.37940829]


def hs71(engine):
    """Its constraints."""
    product = Constraint(engine.parse("x[0]*x[1]*x[2]*x[3]"), None, 25, None)
    return [product, Constraint(engine.parse("sum(x**2)"), None, 40.0, np.asarray(40.0))]


def by_hand(method, x=START, **options):
    """The same run by SciPy alone."""
    further = {
        "product": {"hessp": rosen_hess_prod},
        "matrix": {"hess": rosen_hess},
        "none": {},
    }[METHODS["minimize"][method].hessian]
    return minimize(rosen, x, jac=rosen_der, method=method, options=options, **further)


@pytest.mark.parametrize("method", [name for name in BY_SCIPY if name != "dogleg"])
def test_with_its_own_tolerances_a_run_is_that_of_scipy_itself(run, method):
    given = {"SLSQP": {"ftol": 1e-6}, "Newton-CG": {"xtol": 1e-5}, "trust-constr": {"gtol": 1e-8}}
    options = given.get(method, {"gtol": 1e-5})
    mine = run("minimize", ROSENBROCK, {"x": START}, method, options=options)
    theirs = by_hand(method, **options)
    assert mine.success is bool(theirs.success)
    assert_allclose(mine.solution["x"], theirs.x, atol=1e-4)
    assert mine.value == pytest.approx(rosen(mine.solution["x"]), abs=1e-13)
    gradient = rosen_der(mine.solution["x"])
    assert mine.gradient_norm == pytest.approx(np.abs(gradient).max(), abs=1e-8, rel=1e-4)
    assert abs(mine.evaluations.value - theirs.nfev) <= 0.3 * theirs.nfev
    assert mine.history["value"][0] == rosen(START)
    assert mine.history["iteration"][-1] == mine.iterations


def test_the_dogleg_needs_a_positive_definite_hessian(run):
    start = np.array([0.95, 0.9, 0.81])
    options = {"gtol": 1e-4}
    mine = run("minimize", ROSENBROCK, {"x": start}, "dogleg", options=options)
    theirs = by_hand("dogleg", start, **options)
    assert_allclose(mine.solution["x"], theirs.x, rtol=1e-8)
    assert (mine.success, mine.iterations) == (True, theirs.nit)
    assert mine.evaluations.hessian > 1
    lost = run("minimize", ROSENBROCK, {"x": START}, "dogleg", options=options)
    assert not lost.success
    assert "linalg" in lost.message


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_are_programs(run, engine, method):
    found = run("minimize", method=method, constraints=hs71(engine), **HS71)
    assert found.success
    assert_allclose(found.solution["x"], HS71_OPTIMUM, atol=1e-4)
    assert found.value == pytest.approx(17.0140173, abs=1e-4)
    assert found.gradient_norm < 1e-4


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_a_constraint_may_be_an_intermediate_between_bounds(run, method):
    """The point of a disc that is nearest to (3, 4), its x at least 1 and at most 1.2."""
    text = "radius = sum(x**2)\nfirst = x[:1]\nsum((x - array([3, 4]))**2)"
    constraints = [Constraint(None, "radius", None, 4), Constraint(None, "first", np.ones(1), 1.1)]
    found = run("minimize", text, {"x": [1, 1]}, method, constraints=constraints)
    assert_allclose(found.solution["x"], [1.1, np.sqrt(4 - 1.21)], atol=1e-3)


@pytest.mark.parametrize("method", [name for name in BY_SCIPY if METHODS["minimize"][name].bounds])
def test_bounds_hold(run, method):
    """HS5 of the same collection, whose optimum is inside, and a bound that is met."""
    text = "sin(x + y) + (x - y)**2 - 1.5*x + 2.5*y + 1"
    bounds = {"x": (-1.5, 4), "y": (-3, 3)}
    found = run("minimize", text, {"x": 0, "y": 0}, method, bounds=bounds)
    assert found.value == pytest.approx(-np.sqrt(3) / 2 - np.pi / 3, abs=1e-5)
    found = run("minimize", "sum((x - 3)**2)", {"x": [0, 1]}, method, bounds={"x": (None, 2)})
    assert_allclose(found.solution["x"], 2, atol=1e-3)
    assert found.gradient_norm < 1e-2


def test_float32_sources_are_optimised_in_double_precision_and_come_back(run):
    found = run("minimize", ROSENBROCK, {"x": START[:2].astype(np.float32)}, "BFGS")
    assert found.solution["x"].dtype == np.float32
    assert_allclose(found.solution["x"], 1, atol=2e-2)


def test_a_path_taken_anew_is_recorded_on_the_way(run):
    text = "if x > 2:\n  y = (x - 1)**2 + 1\nelse:\n  y = (x - 1)**4 + (x - 1)**2\ny"
    found = run("minimize", text, {"x": 5}, "BFGS")
    assert found.solution["x"] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("method", [*METHODS["minimize"]])
@pytest.mark.parametrize("at", [1, 3])
def test_a_poll_ends_any_method(run, method, at):
    """Also within an evaluation: the engine polls between instructions."""
    calls = 0

    def poll():
        nonlocal calls
        calls += 1
        if calls > at:
            raise DeadlineExceeded("enough")

    start = np.array([0.95, 0.9, 0.81])
    with pytest.raises(DeadlineExceeded, match="enough"):
        run("minimize", ROSENBROCK, {"x": start}, method, poll=poll)


@pytest.mark.parametrize("method", [*METHODS["minimize"]])
def test_a_run_stops_at_its_best_point_when_its_time_is_over(run, method):
    seconds = iter(range(10_000))
    start = np.array([0.95, 0.9, 0.81])
    found = run(
        "minimize",
        ROSENBROCK,
        {"x": start},
        method,
        max_seconds=8.0,
        clock=lambda: float(next(seconds)),
    )
    assert not found.success
    assert found.message == "stopped after 8 seconds"
    assert found.value == pytest.approx(rosen(found.solution["x"]))
    assert found.value <= rosen(start)


@pytest.mark.parametrize("method", [*METHODS["minimize"]])
def test_nan_at_the_start_is_refused_with_its_place(run, method):
    with pytest.raises(DomainError, match="log is the first that is not") as refused:
        run("minimize", "y = x - 3\nsum(log(y))", {"x": [4, 1]}, method)
    assert "line=2," in str(refused.value.at)
    with pytest.raises(DomainError, match="derivative of the target is not finite"):
        run("minimize", "sum(sqrt(x))", {"x": [4, 0]}, method)


@pytest.mark.parametrize("method", [*METHODS["minimize"]])
@pytest.mark.parametrize("text", ["-exp(x*x)", "-x*x*x*x*exp(x)"])
def test_a_target_without_a_minimum_is_no_success(run, method, text):
    options = (
        {"learning_rate": 10, "maxiter": 300} if METHODS["minimize"][method].first_order else {}
    )
    found = run("minimize", text, {"x": 0.5}, method, options=options)
    assert np.isfinite(found.value)
    assert not found.success or METHODS["minimize"][method].first_order or found.gradient_norm > 1


@pytest.mark.parametrize("method", [*METHODS["minimize"]])
@pytest.mark.parametrize(
    "text", ["1e-3*sum(x**2) + 0*log(x[0] - 1)", "sum(inv(x[0]*array([[1]])))"]
)
def test_a_region_without_values_ends_no_run_with_an_error(run, method, text):
    """Trial points there are NaN, or have no inverse: the best point is the answer."""
    found = run("minimize", text, {"x": [2, 3]}, method)
    assert np.isfinite(found.value)
    assert np.isfinite(found.solution["x"]).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x*x", r"one real number, got float64 of shape \(2,\)"),
        ("sum(x) + 1j", "one real number, got complex128"),
        ("[x[0], x[1]]", "one real number, got several values"),
        ("[x, [x[0]]]", "one real number, got several values"),
        ("{'a': x[0], 'b': [x]}", "one real number, got several values"),
        ("sum(x) > 1", "."),
    ],
)
def test_what_is_no_number_is_refused(run, text, words):
    with pytest.raises((InputError, DerivativeError), match=words):
        run("minimize", text, {"x": [2, 3]})


def test_a_target_without_sources_is_refused_and_missing_paths_are_reported(run, data):
    with pytest.raises(DerivativeError, match="no derivative in any source"):
        run("minimize", "y*y", {"x": [2, 3], "y": data(3.0)})
    found = run("minimize", "sum((x - 1)**2)", {"x": [2, 3], "z": 4.0})
    assert [*found.unconnected] == ["z"]
    assert found.solution["z"] == 4


def test_what_the_start_warned_about_is_in_the_answer(run):
    found = run("minimize", "x = 2*x\nsum(x*x)", {"x": [2, 3]})
    assert all(notice.code for notice in found.warnings)


@pytest.mark.parametrize("method", ["BFGS", "SLSQP", "trust-exact", "dogleg"])
def test_a_matrix_that_is_too_large_is_refused_before_it_is_made(method):
    engine = Engine(Limits(array_bytes=100_000))
    problem = LocalProblem(engine, engine.parse("sum(x*x)"), {"x": Leaf(np.ones(200))})
    with pytest.raises(OverBudget, match="keeps a matrix of 320,000 bytes"):
        solve(problem, Specification("minimize", method), clock=perf_counter)
    assert solve(problem, Specification("minimize", "CG"), clock=perf_counter).success


@pytest.mark.parametrize("method", [name for name in BY_SCIPY if name != "dogleg"])
def test_steps_to_where_the_program_has_no_value_are_taken_back(run, data, method):
    """The likelihood of a Gaussian process: far away its matrix has no Cholesky factor."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 5, 30))
    y = np.sin(x) + 0.1 * rng.normal(size=30)
    text = """
K = exp(s)*exp(-0.5*((x[:, None] - x[None, :])/exp(l))**2) + exp(n)*eye(30)
C = cholesky(K)
0.5*y @ solve(K, y) + sum(log(diag(C)))
"""
    values = {"l": 0.0, "s": 0.0, "n": -2.0, "x": data(x), "y": data(y)}
    found = run("minimize", text, values, method, ["l", "s", "n"])
    assert found.success
    assert found.gradient_norm < 1e-2


@pytest.mark.parametrize("method", [name for name in BY_SCIPY if name != "dogleg"])
def test_steps_beyond_where_there_are_values_lead_back(run, method):
    found = run("minimize", "x - log(x)", {"x": 5.0}, method)
    assert found.success
    assert_allclose(found.solution["x"], 1, atol=1e-3)


@pytest.mark.parametrize("method", ["L-BFGS-B", "TNC", "SLSQP", "trust-constr"])
def test_steps_to_bounds_where_the_value_is_infinite_lead_back(run, method):
    found = run("minimize", "sum(x - log(x))", {"x": [5.0, 0.5]}, method, bounds={"x": (0, None)})
    assert found.success
    assert_allclose(found.solution["x"], 1, atol=1e-2)


def test_slsqp_goes_on_from_a_point_without_value(run):
    text = "t = 0.1*(arange(10) + 1)\nr = exp(-t*x[0]) - exp(-t*x[1]) - x[2]*(exp(-t) - exp(-10*t))"
    found = run("minimize", f"{text}\nsum(r**2)", {"x": [0.0, 10, 20]}, "SLSQP")  # Box (1966)
    assert found.success
    assert found.value < 1e-6


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "constraints", "words"),
    [
        ("sum(x)", [], "the variables grow without end"),
        ("sum(x**2)", ["x", "3*sum(x)"], "more equality constraints than elements"),
    ],
)
def test_where_scipy_raises_a_run_ends_without_success(run, text, constraints, words):
    equal = [Constraint(each, None, 1.0, 1.0) for each in constraints]
    found = run("minimize", text, {"x": [1.0, 1.0]}, "trust-constr", constraints=equal)
    assert not found.success
    assert words in found.message


@pytest.mark.parametrize("method", ["trust-ncg", "trust-krylov", "trust-exact", "dogleg"])
def test_a_tolerance_of_zero_is_reached_at_a_gradient_of_zero(run, method):
    found = run("minimize", "sum((x - 1)**2)", {"x": [3.0, 4.0]}, method, tol=0)
    assert found.success
    assert found.value == 0


@pytest.mark.parametrize("method", ["QRFactorization", "SVDFactorization"])
@pytest.mark.parametrize(
    "given", [{}, {"bounds": {"x": (None, 5)}}, {"constraints": [Constraint("x", None, 1, None)]}]
)
def test_dense_matrices_are_factorised_where_there_are_any(run, method, given):
    options = {"factorization_method": method}
    found = run("minimize", "(x - 2)**2", {"x": 3.0}, "trust-constr", options=options, **given)
    assert_allclose(found.solution["x"], 2, atol=1e-4)


def test_a_constraint_without_a_value_at_the_start_is_pointed_to(run):
    constraint = Constraint("log(x - 5)", None, 0.0, None)
    with pytest.raises(DomainError, match="log is the first") as refused:
        run("minimize", "x**2", {"x": 1.0}, "SLSQP", constraints=[constraint])
    assert pointer_to(refused) == "/constraints/0/program"
