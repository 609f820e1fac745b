"""Success is a minimum, and a minimum is a success: problems made around optima that are known."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from gradwire_solvers import METHODS, Constraint

from tests.effort import share
from tests.tables import cases

BY_SCIPY = [name for name, method in METHODS["minimize"].items() if not method.first_order]
CONSTRAINED = [name for name in BY_SCIPY if METHODS["minimize"][name].constraints]
BOUNDED = [name for name in BY_SCIPY if METHODS["minimize"][name].bounds]
#: Convex, of condition up to 20 and more by its other terms; the least value is ``s * off``, at c.
FREE = "y = (x - c)/d\ns*(0.5*y @ A @ y + q*sum(y**4) + h*sum(log(cosh(y))) + off)"
#: The same with a slope ``b`` at c, which bounds and constraints hold.
HELD = """
y = (x - c)/d
upper = e*(G @ y + 0.5*k*sum(y**2))
equal = e*(E @ y + 0.5*k*sum(y**2))
s*(0.5*y @ A @ y + b @ y)
"""


class Units(NamedTuple):
    """Powers of two by which the value, the constraints and the variables are multiplied."""

    value: float
    constraint: float
    variables: Any


def units(rng: Any, size: int, kind: str) -> Units:
    if kind == "plain":
        return Units(1.0, 1.0, np.ones(size))
    value, constraint, common = 2.0 ** rng.integers(-27, 28, 3)
    each = 2.0 ** rng.integers(-27, 28, size) if kind == "each" else np.full(size, common)
    return Units(value, constraint, each)


def positive(rng: Any, size: int) -> Any:
    q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return q * np.exp(rng.uniform(0, 3, size)) @ q.T


def distance(found: Any, optimum: Any, start: Any) -> float:
    """The error of the solution, relative to each variable's size."""
    sizes = np.maximum(np.abs(optimum), np.abs(start))
    return float(np.max(np.abs(found - optimum) / sizes))


@pytest.mark.parametrize("method", BY_SCIPY)
@pytest.mark.parametrize("kind", ["plain", "uniform", "each"])
def test_a_minimum_is_found_in_any_units(run, data, method, kind):
    for number in range(share(60)):
        rng = np.random.default_rng(number)
        size = int(rng.integers(1, 16))
        value, _, d = units(np.random.default_rng([number, 1]), size, kind)
        c = 3 * rng.normal(size=size)
        start = c + 2 * rng.normal(size=size)
        given = {"q": rng.uniform(), "h": rng.uniform(0, 2), "off": rng.choice([0, 1, -3, 100])}
        fixed = {"c": c * d, "d": d, "A": positive(rng, size), "s": value, **given}
        variables = {"x": start * d} | {name: data(each) for name, each in fixed.items()}
        found = run("minimize", FREE, variables, method, "x")
        assert found.success, found.message
        assert distance(found.solution / d, c, start) < 5e-6


@pytest.mark.parametrize("kind", ["plain", "uniform"])
@pytest.mark.parametrize(
    ("held", "method"),
    [
        *(("bounds", method) for method in BOUNDED),
        *((held, method) for held in ("constraints", "both") for method in CONSTRAINED),
    ],
)
def test_a_minimum_that_is_held_is_found_in_any_units(run, data, method, kind, held):
    """Multipliers are drawn, and the slope at the optimum is what they hold."""
    for number in range(share(30)):
        rng = np.random.default_rng([number, len(held)])
        size = int(rng.integers(1, 9))
        value, unit, d = units(np.random.default_rng([number, 2]), size, kind)
        c, a = 3 * rng.normal(size=size), positive(rng, size)
        start, slope = c + 1.5 * rng.normal(size=size), np.zeros(size)
        low, high = np.full(size, -np.inf), np.full(size, np.inf)
        upper, equal = rng.normal(size=(2, size)), rng.normal(size=(1, size))
        weights = np.where(rng.random(2) < 0.6, rng.uniform(0.5, 3, 2), 0.0)
        room = np.where(weights > 0, 0.0, rng.uniform(0.5, 3, 2))
        weight, constraints = rng.uniform(0, 2), []
        if held != "bounds":
            slope -= upper.T @ weights
            constraints.append(Constraint(None, "upper", None, room * unit))
            if size > 4 and number % 2:
                slope -= equal[0] * weight
                constraints.append(Constraint(None, "equal", 0.0, 0.0))
        if held != "constraints":
            where = rng.random(size)
            low = np.where(where < 0.3, c, np.where(where > 0.8, c - rng.uniform(0.5, 2), low))
            high = np.where((where >= 0.3) & (where < 0.6), c, high)
            push = rng.uniform(0.5, 3, size)
            slope += np.where(where < 0.3, push, 0.0) - np.where(high == c, push, 0.0)
            start = np.clip(start, low, high)
        fixed = {"c": c * d, "d": d, "A": a, "b": slope, "G": upper, "E": equal}
        fixed |= {"k": float(rng.integers(2)), "s": value, "e": unit}
        variables = {"x": start * d} | {name: data(each) for name, each in fixed.items()}
        bounds = {} if held == "constraints" else {"x": (low * d, high * d)}
        given = {"bounds": bounds, "constraints": constraints}
        found = run("minimize", HELD, variables, method, "x", **given)
        if found.success:
            assert distance(found.solution / d, c, start) < 5e-6
        else:  # SLSQP may be caught outside of constraints
            assert "violated" in found.message


@pytest.mark.parametrize("method", CONSTRAINED)
@pytest.mark.parametrize("value", [1.0, 2.0**27, 2.0**-27])
def test_what_no_point_satisfies_is_no_success(run, method, value):
    """Half planes at a distance, whose directions are drawn."""
    for number in range(share(20)):
        rng = np.random.default_rng(number)
        way = rng.normal(size=3)
        text = f"({way.tolist()} @ x)*{value!r}"
        gap = rng.uniform(0.1, 2) * value
        apart = [Constraint(text, None, gap, None), Constraint(text, None, None, -gap)]
        start = {"x": rng.normal(size=3)}
        options = {"maxiter": 100}
        given = {"constraints": apart, "options": options}
        found = run("minimize", "sum((x - 1)**2)", start, method, **given)
        assert not found.success
        assert "violated" in found.message or "subproblem" in found.message


@pytest.mark.parametrize("method", BY_SCIPY)
@cases("text, start")
def test_without_a_minimum_there_is_no_success(run, method, text, start):
    """No least value, kinks, maxima, saddle points, and slopes that never end."""
    found = run("minimize", text, {"x": start}, method, options={}, max_seconds=None)
    x = np.asarray(found.solution["x"])
    if "abs" in text or "maximum(0" in text:
        assert not found.success or abs(found.value) < 1e-6
    elif text.startswith("1/(1"):
        assert not found.success or found.value < 1e-6
    elif text.startswith("x[0]**2"):
        assert not found.success or abs(abs(x[1]) - 0.5**0.5) < 1e-5
    elif text.startswith("1e-10"):
        assert not found.success or abs(np.cos(x) + 1) < 1e-6
    else:
        assert not found.success


@pytest.mark.parametrize("method", BY_SCIPY)
@cases("text, start, optimum")
def test_a_success_is_at_the_minimum_however_far_the_value_falls(run, method, text, start, optimum):
    """By many magnitudes, in tiny and huge units, and from where slopes are 0 by a convention."""
    found = run("minimize", text, {"x": start}, method)
    assert not found.success or abs(found.solution["x"]) == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
def test_a_column_that_has_vanished_is_flat(run, data, method):
    """Where steps lead to rates at which the exponential is 0 at all times."""
    times = data([1.0, 2.0, 3.0])
    variables = {"a": 1.0, "b": 1.0, "t": times, "y": data([-0.5, -0.4, -0.6])}
    found = run("least_squares", "exp(a - exp(b)*t) - y", variables, method, ["a", "b"])
    assert not found.success
    assert "flat" in found.message or "would still fall" in found.message


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
@pytest.mark.parametrize("text", ["exp(-x)", "1/x", "exp(-x*[1.0, 2.0])"])
def test_squares_that_only_tend_to_zero_are_no_success_and_end(run, method, text):
    found = run("least_squares", text, {"x": 1.0}, method, max_seconds=20.0)
    assert not found.success
    assert "stopped" not in found.message


@pytest.mark.parametrize("method", BOUNDED)
@pytest.mark.parametrize("free", [0, 1, 2])
def test_equal_bounds_fix_a_variable(run, data, method, free):
    c, start = np.array([2.0, 1.0]), np.array([0.5, -1.0])
    moves = np.arange(2) < free
    low, high = np.where(moves, -9.0, start), np.where(moves, 9.0, start)
    given = {"x": start, "c": data(c)}
    found = run("minimize", "sum((x - c)**2)", given, method, "x", bounds={"x": (low, high)})
    assert found.success, found.message
    assert found.solution == pytest.approx(np.where(moves, c, start), abs=1e-6)


@pytest.mark.parametrize("method", CONSTRAINED)
def test_a_kink_within_constraints_is_no_minimum_where_the_value_falls(run, method):
    """The slope of ``abs`` at 0 is 0 by convention, and 0 here the start."""
    disc = [Constraint(None, "radius", None, 1.0)]
    text = "radius = sum(x**2)\nx[1]**2 - abs(x[0])"
    found = run("minimize", text, {"x": [0.0, 0.0]}, method, constraints=disc)
    assert not found.success or found.value == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
@pytest.mark.parametrize(
    "text", ["[x**2 - 1, 0.1*x]", "[x[0]*x[1] - 1, x[0] - x[1]]", "[abs(x) - 1, 0.1*x]"]
)
def test_a_stationary_point_that_is_no_minimum_of_squares_is_no_success(run, method, text):
    start = [0.0, 0.0] if "[1]" in text else 0.0
    found = run("least_squares", text, {"x": start}, method)
    assert not found.success
    assert "curvature" in found.message or "beside it" in found.message


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm", "gauss-newton"])
@pytest.mark.parametrize("kind", ["plain", "uniform"])
def test_least_squares_are_found_in_any_units(run, data, method, kind):
    """Sums of exponentials with noise that is orthogonal to the model at the parameters."""
    t = np.linspace(0, 3, 20)
    for number in range(share(40)):
        rng = np.random.default_rng(number)
        p = np.array([rng.uniform(0.5, 3), rng.uniform(0.3, 2), rng.normal()])
        decay = np.exp(-p[1] * t)
        columns = np.c_[decay, -p[0] * t * decay, np.ones_like(t)]
        noise = 0.01 * rng.normal(size=t.size)
        noise -= columns @ np.linalg.lstsq(columns, noise, rcond=None)[0]
        value, _, d = units(np.random.default_rng([number, 1]), 3, kind)
        text = "q = x/d\ns*(q[0]*exp(-q[1]*t) + q[2] - y)"
        start = p * rng.uniform(0.7, 1.4, 3)
        fixed = {"d": d, "s": value, "t": t, "y": p[0] * decay + p[2] + noise}
        variables = {"x": start * d} | {name: data(each) for name, each in fixed.items()}
        found = run("least_squares", text, variables, method, "x")
        assert found.success, found.message
        assert distance(found.solution / d, p, start) < 1e-6


@pytest.mark.parametrize("method", [*METHODS["root"]])
@pytest.mark.parametrize("kind", ["plain", "uniform"])
def test_roots_are_found_in_any_units(run, data, method, kind):
    for number in range(share(40)):
        rng = np.random.default_rng(number)
        size = int(rng.integers(1, 6))
        c = 2 * rng.normal(size=size)
        start = c + rng.normal(size=size)
        value, _, d = units(np.random.default_rng([number, 1]), size, kind)
        text = "y = (x - c)/d\ns*(A @ y + 0.3*sin(y))"
        fixed = {"c": c * d, "d": d, "s": value, "A": positive(rng, size)}
        variables = {"x": start * d} | {name: data(each) for name, each in fixed.items()}
        found = run("root", text, variables, method, "x")
        assert found.success, found.message
        assert distance(found.solution / d, c, start) < 1e-6


@pytest.mark.parametrize("method", ["BFGS", "CG", "trust-ncg", "L-BFGS-B", "trust-exact"])
def test_an_explicit_gtol_is_scipys(run, method):
    """A tolerance that is reached far from the minimum is a success that was asked for."""
    found = run("minimize", "sum((x - 5)**4)", {"x": [0.0, 1.0]}, method, options={"gtol": 1.0})
    assert found.success
    assert 1e-3 < found.gradient_norm <= 1.0
