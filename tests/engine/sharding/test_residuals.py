"""Residuals of shards: costs, gradients and Gauss–Newton products add up to closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.nesting import leaves
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.sharding.shards import Objective, flat

PROGRAM = "r = tanh(X @ w) - y\nk = 0.5*w\nlong = r.reshape(-1)\nr"
#: One row of residuals for each row of data, several one after the other, or beside such without.
TARGETS: dict[str, Any] = {"rows": "r", "several": "long", "beside": {"r": "r", "k": ["k"]}}


def parts(objective: Objective, target: Any, v: Any) -> tuple[Any, Any, Any, Any]:
    """``½ Σ r²``, ``Jᵀ r``, ``Jᵀ J v`` and ``Σ rᵢ ∇²rᵢ v``, each the sum of what shards give."""
    found: list[tuple[Any, Any, Any, Any]] = []
    for number in range(len(objective.cuts)):

        def ask(kind: str, seeds: Any = None, number: int = number, **query: Any) -> Any:
            asked = {"kind": kind, "target": target, **query}
            return objective.shard(number, seeds, residuals=True, **asked)

        residuals = ask("evaluate").value
        along = ask("jvp", {"w": v}, sources={"w": "w"}).derivatives["jvp"]
        found.append(
            (
                np.sum(flat(residuals) ** 2) / 2,
                ask("gradient", residuals, sources="w").gradients,
                ask("gradient", along, sources="w").gradients,
                ask("hvp", [v, *leaves(residuals)], sources=["w"]).derivatives["hvp"][0],
            )
        )
    cost, gradient, product, curved = (sum(each) for each in zip(*found, strict=True))
    return cost, gradient, product, curved


@pytest.mark.thorough
@pytest.mark.parametrize("name", TARGETS)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any),
    st.integers(0, 99),
)
@examples(50)
def test_shards_add_up_to_gauss_newton(name, sizes, seed):
    rng, rows = np.random.default_rng(seed), sum(sizes)
    x, y, w = rng.normal(size=(rows, 3)), rng.normal(size=(rows, 2)), rng.normal(size=(3, 2))
    v = rng.normal(size=(3, 2))
    objective = Objective(PROGRAM, {"X": x, "y": y, "w": w}, ["X", "y"], sizes)
    cost, gradient, product, curved = parts(objective, TARGETS[name], v)
    r, slope = np.tanh(x @ w) - y, 1 - np.tanh(x @ w) ** 2
    bend = -2 * np.tanh(x @ w) * slope
    beside = (name == "beside") / 4
    assert_allclose(cost, (np.sum(r**2) + beside * np.sum(w**2)) / 2)
    assert_allclose(gradient, x.T @ (slope * r) + beside * w, atol=1e-12)
    assert_allclose(product, x.T @ (slope**2 * (x @ v)) + beside * v, atol=1e-12)
    assert_allclose(curved, x.T @ (r * bend * (x @ v)), atol=1e-12)


def test_residuals_that_no_source_reaches_count():
    data = {"X": np.ones((2, 3)), "y": np.ones((2, 2)), "w": np.zeros((3, 2))}
    objective = Objective(PROGRAM, data, ["X", "y"], (1, 1))
    cost, gradient, product, curved = parts(objective, ["r", "y"], np.ones((3, 2)))
    assert cost == 4.0
    assert_allclose(gradient, np.full((3, 2), -2.0))
    assert_allclose(product, np.full((3, 2), 6.0))
    assert_allclose(curved, np.zeros((3, 2)))
