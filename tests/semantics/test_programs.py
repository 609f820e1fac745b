"""Programs that take derivatives themselves, beside the same derivatives on paper."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

PRICE = """
def price(S, sigma):
    d = (log(S / K) + (r + sigma**2 / 2) * T) / (sigma * sqrt(T))
    return S * scipy.stats.norm.cdf(d) - K * exp(-r * T) * scipy.stats.norm.cdf(d - sigma * sqrt(T))
"""
OPTION = {"S": 100.0, "K": 95.0, "r": 0.03, "T": 0.5}


def greeks(S, K, r, T, sigma):
    """Delta, gamma, vega, vanna and volga of a call.

    Source: Haug, The Complete Guide to Option Pricing Formulas, chapter 2.
    """
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2, density = d1 - sigma * np.sqrt(T), scipy.stats.norm.pdf(d1)
    vega = S * density * np.sqrt(T)
    gamma, vanna = density / (S * sigma * np.sqrt(T)), -density * d2 / sigma
    return scipy.stats.norm.cdf(d1), gamma, vega, vanna, vega * d1 * d2 / sigma


@pytest.mark.rule("S28")
async def test_greeks_are_gradients_of_gradients(wire):
    text = PRICE + "C = price(S, sigma)\ndelta, vega = grad(C, [S, sigma])\n"
    text += "[delta, grad(delta, S), vega, grad(delta, sigma), grad(vega, sigma)]"
    found = await wire.value(text, {**OPTION, "sigma": 0.2})
    assert found == pytest.approx(greeks(**OPTION, sigma=0.2))


@pytest.mark.rule("S57")
async def test_an_implied_volatility_has_the_slope_of_an_inverse_function(wire):
    text = PRICE + "sigma = 0.5\nwhile abs(price(S, sigma) - market) > 1e-9:\n"
    text += "    sigma -= (price(S, sigma) - market) / grad(lambda s: price(S, s))(sigma)\nsigma"
    market = await wire.value(PRICE + "price(S, sigma)", {**OPTION, "sigma": 0.2})
    answer = await wire.answer(text, {**OPTION, "market": market}, sources=["market", "S"])
    delta, _, vega, _, _ = greeks(**OPTION, sigma=0.2)
    assert answer["value"] == pytest.approx(0.2)
    assert answer["gradients"] == pytest.approx([1 / vega, -delta / vega])


@pytest.mark.rule("S32")
async def test_newtons_steps_to_an_optimum_have_the_slope_of_an_implicit_function(wire):
    text = """
def loss(w):
    z = X @ w
    return sum(softplus(z) - y * z) + l2 / 2 * w @ w

w = start
for _ in range(8):
    w = w - solve(hessian(loss)(w), grad(loss)(w))
w
"""
    rng, l2 = np.random.default_rng(0), 0.5
    X, y = rng.normal(size=(20, 3)), (rng.normal(size=20) > 0).astype(float)
    variables = {"X": X.tolist(), "y": y.tolist(), "start": [0.1] * 3, "l2": l2}
    w = np.array(await wire.value(text, variables))
    p = scipy.special.expit(X @ w)
    np.testing.assert_allclose(X.T @ (p - y) + l2 * w, 0, atol=1e-12)
    # the optimum satisfies ∇loss(w, l2) = 0, so dw/dl2 = -H⁻¹ w, wherever Newton's method began
    H = X.T @ np.diag(p * (1 - p)) @ X + l2 * np.eye(3)
    found = await wire.gradients(text, variables, sources=["l2", "start"])
    assert found[0] == pytest.approx(-np.sum(np.linalg.solve(H, w)))
    np.testing.assert_allclose(found[1], 0, atol=1e-9)


@pytest.mark.rule("S32")
async def test_meta_learning_differentiates_through_the_inner_loop(wire):
    text = """
def mse(p, data):
    return mean((data.x @ p["w"] + p["b"] - data.y) ** 2)

total = 0.0
for task in tasks:
    p = start
    for _ in range(3):
        g = grad(mse)(p, task.train)
        p = {"w": p["w"] - rate * g["w"], "b": p["b"] - rate * g["b"]}
    total += mse(p, task.test)
total
"""
    rng, rate = np.random.default_rng(0), 0.1
    tasks = [{half: points(rng, 6) for half in ("train", "test")} for _ in range(2)]
    start = rng.normal(size=3)
    variables = {"tasks": tasks, "rate": rate, "start": {"w": start[:2].tolist(), "b": start[2]}}
    found = await wire.gradients(text, variables, sources="start")
    expected = np.zeros(3)
    for task in tasks:  # an affine step p → (1 - rate A) p + …, three times
        (A, c), (B, d) = (quadratic(**task[half]) for half in ("train", "test"))
        step, p = np.eye(3) - rate * A, start
        for _ in range(3):
            p = step @ p + rate * c
        expected += np.linalg.matrix_power(step, 3) @ (B @ p - d)
    np.testing.assert_allclose([*found["w"], found["b"]], expected)


def points(rng, n):
    return {"x": rng.normal(size=(n, 2)).tolist(), "y": rng.normal(size=n).tolist()}


def quadratic(x, y):
    """A and c of the gradient A p - c of the mean squared error in p = (w, b)."""
    X = np.column_stack([x, np.ones(len(y))])
    return 2 / len(y) * X.T @ X, 2 / len(y) * X.T @ y
