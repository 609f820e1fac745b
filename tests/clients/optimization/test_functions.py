"""Whole optimisations give what SciPy gives in this process, by both clients."""

import inspect
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.optimize
from gradwire.optimization.requests import OPTIONS

from tests.clients.optimization.problems import START, decay, rosenbrock

GRADIENT = gradwire.program("grad(sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2), x)", "x")
T = np.linspace(0.0, 4.0, 40)
Y = 3.0 * np.exp(-0.7 * T) + 0.5 + 0.02 * np.random.default_rng(0).normal(size=40)
GUESS = {"height": 1.0, "rate": 1.0, "floor": 0.0}


@pytest.fixture(params=["blocking", "awaiting"])
def each(request, client, awaiting_client):
    """A client, and a function that awaits its answers where they have to be."""

    async def answer(given):
        return await given if inspect.isawaitable(given) else given

    return (client if request.param == "blocking" else awaiting_client), answer


@pytest.fixture
def gradient(client):
    """The gradient of the Rosenbrock function, for SciPy."""
    return client.grad(rosenbrock)


@pytest.mark.parametrize(
    ("each", "method"),
    [
        *(("blocking", method) for method in (None, "BFGS", "SLSQP")),
        *(("awaiting", method) for method in ("L-BFGS-B", "CG", "TNC")),
    ],
    indirect=["each"],
)
async def test_functions_are_minimised_as_by_scipy(each, method, gradient):
    client, answer = each
    found = await answer(client.minimize(rosenbrock, START, method=method, tol=1e-9))
    expected = scipy.optimize.minimize(rosenbrock, START, jac=gradient, method=method, tol=1e-9)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-4)
    assert found.success
    assert found.status == 0
    assert found.fun == pytest.approx(expected.fun, abs=1e-8)
    assert found.nit > 0
    assert found.history["value"][-1] == pytest.approx(found.fun, abs=1e-6)


def test_results_are_those_of_scipy_in_use(client):
    found = client.minimize(rosenbrock, START)
    expected = scipy.optimize.minimize(rosenbrock, START)
    assert issubclass(type(found), dict)
    assert {"x", "fun", "success", "status", "message", "nit", "nfev", "njev"} <= set(found)
    assert set(expected) - set(found) <= {"jac", "hess_inv"}
    assert found["fun"] == found.fun
    found.own = 1
    assert found.pop("own") == 1
    assert "nit" in dir(found)
    with pytest.raises(AttributeError, match="hess_inv"):
        _ = found.hess_inv
    del found.nit
    with pytest.raises(AttributeError, match="nit"):
        del found.nit


def test_parameters_keep_their_nesting_and_dtypes(client):
    def f(p, a, scale):
        return np.sum((p["w"] - a) ** 2) + scale * (p["layers"][0] - 1) ** 2

    start = {"w": np.zeros(2, np.float32), "layers": (0, "fixed"), "unused": np.ones(3)}
    found = client.minimize(f, start, (3.0, 2.0), bounds={"layers": (None, 0.5)})
    assert found.x["w"].dtype == np.float32
    np.testing.assert_allclose(found.x["w"], 3.0, atol=1e-3)
    assert found.x["layers"] == (0.5, "fixed")
    np.testing.assert_array_equal(found.x["unused"], 1.0)
    assert isinstance(client.minimize(lambda x: (x - 3) ** 2, 0).x, np.float64)
    np.testing.assert_allclose(client.minimize(lambda x: np.sum((x - 3) ** 2), [0, 0]).x, 3.0)


def test_programs_move_the_start_or_the_sources(client):
    program = "sum((w - a)**2) + (layers[0].b - 1)**2"
    start = {"w": [0.0, 0.0], "layers": [{"b": 0.0}]}
    found = client.minimize(program, start, variables={"a": 3.0}, bounds={"w": (None, 2)})
    np.testing.assert_allclose(found.x["w"], 2.0)
    assert found.x["layers"][0]["b"] == pytest.approx(1.0)
    found = client.minimize(program, variables={**start, "a": 3.0}, sources=["w"], target=None)
    np.testing.assert_allclose(found.x, [[3.0, 3.0]], atol=1e-6)
    stored = client.programs.register("h = (x - 2)**2\nh + 1", name="optimization.stored")
    assert client.minimize(stored, {"x": 0.0}, target="h").fun == pytest.approx(0.0, abs=1e-9)
    assert client.minimize({"ref": stored.id}, {"x": 0.0}).fun == pytest.approx(1.0)


CONSTRAINTS = [
    scipy.optimize.NonlinearConstraint(lambda x: x @ x, -np.inf, 1),
    scipy.optimize.NonlinearConstraint(lambda x: [x[0] ** 2 + x[1], x[2] - x[1]], -np.inf, [1, 0]),
    scipy.optimize.LinearConstraint([[1, 2, 0, 0, 1]], -np.inf, 1),
    {"type": "eq", "fun": lambda x, a: x[0] - a * x[1], "args": (2.0,)},
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=["nonlinear", "list", "linear", "equality"])
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_hold_as_with_scipy(client, constraint, method):
    found = client.minimize(rosenbrock, START, method=method, constraints=constraint)
    expected = scipy.optimize.minimize(rosenbrock, START, method="SLSQP", constraints=constraint)
    np.testing.assert_allclose(found.x, expected.x, atol=2e-3)


def test_constraints_of_programs_are_programs(client):
    program, start = "h = sum(x)\n(x[0] - 2)**2 + (x[1] - 2)**2", {"x": [0.0, 0.0]}
    expected = [1.5, 0.5]
    for constraints in (
        [{"program": "x[0]", "low": 1.5, "high": 1.5}, {"target": "h", "high": 2}],
        [
            scipy.optimize.NonlinearConstraint("x[0]", 1.5, 1.5),
            scipy.optimize.LinearConstraint([[1, 1]], -np.inf, 2),
        ],
    ):
        found = client.minimize(program, start, method="SLSQP", constraints=constraints)
        np.testing.assert_allclose(found.x["x"], expected, atol=1e-6)


async def test_least_squares_are_those_of_scipy(each):
    client, answer = each
    found = await answer(client.least_squares(decay, GUESS, (T, Y)))
    expected = scipy.optimize.least_squares(
        lambda x: decay(dict(zip(GUESS, x, strict=True)), T, Y), list(GUESS.values())
    )
    np.testing.assert_allclose([*found.x.values()], expected.x, rtol=1e-5)
    assert found.cost == pytest.approx(expected.cost)
    assert found.optimality < 1e-6
    assert (found.success, found.status) == (True, 1)


def test_options_of_least_squares_are_scipys(client):
    y = Y.copy()
    y[3] += 10  # an outlier
    options = {"loss": "soft_l1", "f_scale": 0.1, "bounds": (0, [2, 2, 2])}
    found = client.least_squares(decay, GUESS, (T, y), **options)
    expected = scipy.optimize.least_squares(
        lambda x: decay(dict(zip(GUESS, x, strict=True)), T, y), list(GUESS.values()), **options
    )
    np.testing.assert_allclose([*found.x.values()], expected.x, rtol=1e-3)


@pytest.mark.parametrize("method", [None, "hybr", "lm"])
async def test_roots_keep_the_nesting_of_values(each, method):
    client, answer = each

    def f(p):
        return {"sum": p["x"] ** 2 + p["y"] - 3, "difference": p["x"] - p["y"] + 1}

    found = await answer(client.root(f, {"x": 1.2, "y": 1.8}, method=method))
    assert (found.x["x"], found.x["y"]) == pytest.approx((1, 2))
    assert found.fun.keys() == {"sum", "difference"}
    assert found.status == 1


@pytest.mark.thorough
def test_first_order_methods_take_minibatches(client):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(256, 3))
    data = {"x": x, "y": x @ [1.0, -2.0, 0.5]}
    options: dict[str, Any] = {
        "method": "adam",
        "options": {"maxiter": np.int64(2000), "learning_rate": np.float64(0.01)},
    }
    found = client.minimize(
        "mean((x @ w - y)**2)",
        {"w": np.zeros(3)},
        variables=data,
        minibatch={"size": 32, "variables": ["x", "y"], "seed": 0},
        **options,
    )
    np.testing.assert_allclose(found.x["w"], [1.0, -2.0, 0.5], atol=1e-3)
    again = client.minimize(
        lambda w, rows: np.mean((rows["x"] @ w - rows["y"]) ** 2),
        np.zeros(3),
        (data,),
        minibatch={"size": 32, "variables": ["rows.x", "rows.y"], "seed": 0},
        **options,
    )
    np.testing.assert_array_equal(again.x, found.x["w"])


def test_the_default_client_optimises_too(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    np.testing.assert_allclose(gradwire.minimize(rosenbrock, START).x, 1.0, atol=1e-3)
    assert gradwire.root("cos(x) - x", {"x": 1.0}).x["x"] == pytest.approx(0.7390851332)
    with gradwire.Client(service_url) as client:
        own = gradwire.function(rosenbrock, client)
        monkeypatch.setenv("GRADWIRE_URL", "http://127.0.0.1:1")
        np.testing.assert_allclose(gradwire.minimize(own, START).x, 1.0, atol=1e-3)
        found = gradwire.least_squares(lambda x: x - 1, START, client=client)
        np.testing.assert_allclose(found.x, 1.0)


def decided(x, sign):
    return np.sum(x**2) if sign > 0 else np.sum((x - 1) ** 2)


def test_decisions_by_the_data_are_made_once_for_each_data(client):
    f = gradwire.function(decided)
    for sign, expected in ((1.0, 0.0), (-1.0, 1.0), (1.0, 0.0)):
        np.testing.assert_allclose(client.minimize(f, START, (sign,)).x, expected, atol=1e-4)


def test_decisions_by_the_parameters_are_refused(client):
    with pytest.raises(
        gradwire.NotTraceable, match=r"decides by its parameters.*\n.*test_functions"
    ):
        client.minimize(lambda x: x[0] if x[0] > 0 else -x[0], START)


def _named(x):
    return {"a": x}


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((rosenbrock, START), {"maxiter": 3}, "minimize has no option maxiter"),
        ((rosenbrock, START), {"jac": True}, "derivatives are exact"),
        ((rosenbrock, START), {"variables": {"x": 1.0}}, "variables go with a program"),
        (("x**2", {"x": 1.0}, (3,)), {}, "args go with a Python function"),
        ((rosenbrock, "a"), {}, "x0 has no numbers"),
        ((lambda x: 1.0, START), {}, "does not depend on x0"),
        ((rosenbrock, START), {"constraints": {"program": "x"}}, "are Python functions, too"),
        (
            (rosenbrock, START),
            {"constraints": {"type": "eq", "fun": lambda x: {"a": x}}},
            "one array",
        ),
        ((3.0, START), {}, "expected program text, got float"),
    ],
)
def test_wrong_arguments_are_named(client, arguments, options, message):
    with pytest.raises(gradwire.GradwireError, match=message):
        client.minimize(*arguments, **options)


def test_errors_name_the_line_of_the_function(client):
    def wrong(x):
        return np.sum(np.linalg.inv(0.0 * np.outer(x, x)))

    with pytest.raises(gradwire.APIError) as caught:
        client.minimize(wrong, START)
    assert any("test_functions.py" in note for note in caught.value.__notes__)


def test_refusals_are_those_of_the_service(client):
    with pytest.raises(gradwire.InvalidRequest, match="no method 'simplex'") as caught:
        client.minimize(rosenbrock, START, method="simplex")
    assert caught.value.pointer == "/method"
    with pytest.raises(gradwire.APIError, match="complex"):
        client.minimize(lambda x: np.sum(np.abs(x)), np.ones(2, np.complex128))


def test_each_kind_has_the_options_that_its_signature_has():
    assert OPTIONS["root"] < OPTIONS["minimize"]
    assert {"loss", "f_scale"} <= OPTIONS["least_squares"]


@pytest.mark.parametrize("args", [([1.0, 2.0],), [1.0, 2.0], np.array([1.0, 2.0])])
def test_one_argument_needs_no_tuple_as_in_scipy(client, args):
    def distance(x, a):
        return np.sum((x - np.asarray(a)) ** 2)

    found = client.minimize(distance, np.zeros(2), args)
    np.testing.assert_allclose(found.x, scipy.optimize.minimize(distance, np.zeros(2), args).x)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": [1]}, "options needs values by name, got a list"),
        ({"minibatch": [1]}, "minibatch needs values by name, got a list"),
        ({"minibatch": {"size": 1, "variables": 3}}, "variables of minibatch: 'int' object"),
        ({"callback": 3}, "expected a Python function, got int"),
    ],
)
def test_options_of_wrong_types_are_refused_before_anything_is_sent(client, given, message):
    with pytest.raises(gradwire.UsageError, match=message):
        client.minimize(rosenbrock, START, **given)
