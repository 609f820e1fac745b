import gradwire
import numpy as np
import pytest
import scipy.optimize
from gradwire.adapters.scipy import Objective, Residuals, least_squares, minimize, root

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.7
LEAST = np.linalg.lstsq(np.column_stack([X, np.ones(40)]), Y, rcond=None)[0]
START = {"w": np.zeros(3), "b": 0.0}


def loss(params, x, y):
    return np.mean((x @ params["w"] + params["b"] - y) ** 2)


def misfit(params, x, y):
    return {"all": x @ params["w"] + params["b"] - y}


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


VALLEY = gradwire.program("(1 - x[0])**2 + 3 * (x[1] - x[0]**2)**2", "x")


@pytest.mark.parametrize(
    "method",
    [
        *["Nelder-Mead", "Powell", "CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "COBYLA"],
        *["COBYQA", "SLSQP", "trust-constr", "dogleg", "trust-ncg", "trust-exact", "trust-krylov"],
        None,
    ],
)
def test_every_method_minimises_program_text(client, method):
    found = minimize(VALLEY, [0.8, 0.6], method=method, client=client)
    assert np.allclose(found.x, 1.0, atol=5e-3)


def test_results_are_nested_like_the_start(client):
    found = minimize(loss, START, (X, Y), "L-BFGS-B", client=client, options={"ftol": 1e-14})
    assert np.allclose(found.x["w"], LEAST[:3], atol=1e-5)
    assert found.x["b"] == pytest.approx(LEAST[3], abs=1e-5)


def test_a_value_with_its_gradient_is_one_request(client, requests, transport):
    of = Objective(loss, START, (X, Y), client=client)
    with requests(1):
        value, gradient = of.fun(of.x0)
    assert value == pytest.approx(np.mean(Y**2))
    assert scipy.optimize.check_grad(of.value, lambda x: of.fun(x)[1], of.x0) < 1e-6
    assert gradient.shape == (4,)
    with requests(3):
        matrix, products = of.hess(of.x0), [of.hessp(of.x0, e) for e in np.eye(4)[:2]]
    assert np.allclose(matrix[:2], products)
    before = transport.count
    found = minimize(loss, START, (X, Y), "BFGS", client=client)
    assert transport.count - before == found.nfev


def test_hessian_products_are_used_if_the_method_supports_them(client):
    found = minimize(rosenbrock, np.array([-1.0, 1.0]), method="trust-ncg", client=client)
    assert found.nhev > 0
    whole = Objective(rosenbrock, np.zeros(2), client=client).hess
    matrix = minimize(rosenbrock, [-1.0, 1.0], method="trust-ncg", client=client, hess=whole)
    assert np.allclose([found.x, matrix.x], 1.0, atol=5e-3)


def test_least_squares_gets_residuals_and_jacobian_in_one_request(client, transport):
    before = transport.count
    found = least_squares(misfit, START, (X, Y), client=client)
    assert transport.count - before == found.nfev
    assert np.allclose(found.x["w"], LEAST[:3])
    of = Residuals(misfit, START, (X, Y), client=client)
    assert np.allclose(of.jac(of.x0), np.column_stack([X, np.ones(40)]))


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "broyden1"])
def test_roots_are_found(client, method):
    def f(p):
        return p["x"] ** 2 + p["y"] - 3, p["x"] - p["y"] + 1

    found = root(f, {"x": 1.2, "y": 1.8}, method=method, client=client)
    assert (found.x["x"], found.x["y"]) == pytest.approx((1, 2), abs=1e-5)


def test_an_async_client_is_refused():
    with pytest.raises(TypeError, match=r"give it a gradwire\.Client"):
        minimize(gradwire.function(loss, gradwire.AsyncClient()), START, (X, Y))


def test_objectives_must_return_one_number(client):
    with pytest.raises(gradwire.UsageError, match="sum its elements"):
        minimize(lambda x: (x - 1) ** 2, np.ones(2), client=client)
    found = minimize(lambda x: np.sum((x - 1) ** 2, keepdims=True), np.zeros(2), client=client)
    np.testing.assert_allclose(found.x, 1)


@pytest.mark.parametrize("x0", ["a", {}, None])
def test_a_start_without_numbers_is_refused(client, x0):
    with pytest.raises(gradwire.UsageError, match="x0 has no numbers"):
        minimize(lambda x: 1.0, x0, client=client)
