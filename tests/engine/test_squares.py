"""Half the sum of squares of residuals, whole and by shards, beside closed forms."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query, Shard
from gradwire_engine.queries.squares import Squares
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from tests.effort import examples

PROGRAM = "r = tanh(X @ w) - y\nk = 0.5*w\nr"
TARGET = {"r": "r", "k": "k"}


def squares(data: dict[str, Any], shard: Shard | None = None, target: Any = TARGET) -> Squares:
    engine = Engine()
    program = engine.parse(PROGRAM)
    leaves = {name: Leaf(np.asarray(value)) for name, value in data.items()}
    query = Query("evaluate", target=target, sources={"w": "w"}, shard=shard)
    return Squares(lambda asked, vectors: engine.call(program, leaves, asked, vectors), query)


def poll() -> None:
    pass


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any), st.integers(0, 99))
@examples(50)
def test_shards_add_up_to_gauss_newton(sizes, seed):
    rng, rows = np.random.default_rng(seed), sum(sizes)
    x, y, w = rng.normal(size=(rows, 3)), rng.normal(size=(rows, 2)), rng.normal(size=(3, 2))
    v = rng.normal(size=(3, 2))
    costs: list[Any] = []
    gradients: list[Any] = []
    products: list[Any] = []
    for cut in pairwise(accumulate(sizes, initial=0)):
        own = {"X": x[slice(*cut)], "y": y[slice(*cut)], "w": w}
        part = squares(own, Shard(("X", "y"), rows, cut[0] == 0 and not costs, residuals=True))
        cost, gradient = part.cost_and_gradient(poll)
        costs.append(cost)
        gradients.append(gradient["w"])
        products.append(part.product({"w": v}, poll)["w"])
    r = np.tanh(x @ w) - y
    slope = 1 - np.tanh(x @ w) ** 2
    np.testing.assert_allclose(sum(costs), (np.sum(r**2) + np.sum(w**2) / 4) / 2)
    np.testing.assert_allclose(sum(gradients), x.T @ (slope * r) + w / 4)
    np.testing.assert_allclose(sum(products), x.T @ (slope**2 * (x @ v)) + v / 4)


def test_the_whole_is_that_of_differences():
    rng = np.random.default_rng(1)
    data = {"X": rng.normal(size=(7, 3)), "y": rng.normal(size=(7, 2))}
    w = rng.normal(size=(3, 2))

    def cost(flat: Any) -> float:
        return squares({**data, "w": flat.reshape(3, 2)}).cost_and_gradient(poll)[0]

    _, gradient = squares({**data, "w": w}).cost_and_gradient(poll)
    np.testing.assert_allclose(gradient["w"].ravel(), approx_fprime(w.ravel(), cost), rtol=1e-5)


def test_a_residual_that_no_source_reaches_counts():
    data = {"X": np.ones((2, 3)), "y": np.ones((2, 2)), "w": np.zeros((3, 2))}
    whole = squares(data, target=["r", "y"])
    cost, gradient = whole.cost_and_gradient(poll)
    assert cost == 4.0
    np.testing.assert_allclose(gradient["w"], np.full((3, 2), -2.0))
    np.testing.assert_allclose(whole.product({"w": np.ones((3, 2))}, poll)["w"], np.full((3, 2), 6))


def test_costs_are_summed_in_double_precision():
    data = {"X": np.full((2, 3), 1e20, "float32"), "y": np.full((2, 2), 1e20, "float32")}
    whole = squares({**data, "w": np.zeros((3, 2), "float32")}, target="r")
    cost, _ = whole.cost_and_gradient(poll)
    np.testing.assert_allclose(cost, 2e40, rtol=1e-6)
